import { Socket } from 'node:net';

export type SocketWatch = { dialled: string[]; restore(): void };

type Target = { host?: string; port?: number; lookup?: unknown };

/**
 * Records every TCP connection that this process opens, at the socket itself. `internet` maps addresses to local ports, so that a test has public
 * addresses to connect to; no real public address is ever dialed.
 */
export function watchSockets(internet: Record<string, number> = {}): SocketWatch {
  const dialled: string[] = [];
  const original = Socket.prototype.connect;
  const patched = function (this: Socket, ...args: unknown[]): Socket {
    const [first] = Array.isArray(args[0]) ? args[0] : args;
    const target = (typeof first === 'object' ? first : { port: first }) as Target;
    const host = target.host ?? 'localhost';
    dialled.push(`${host}:${target.port}`);
    const port = internet[host];
    const to = port === undefined ? target : { ...target, host: '127.0.0.1', port };
    if (port === undefined && !host.startsWith('127.') && host !== '::1' && host !== 'localhost') {
      process.nextTick(() => this.destroy(new Error(`no route to ${host}`)));
      return this;
    }
    return Reflect.apply(original, this, [to]);
  };
  Socket.prototype.connect = patched as typeof original;
  return {
    dialled,
    restore: () => {
      Socket.prototype.connect = original;
    },
  };
}
