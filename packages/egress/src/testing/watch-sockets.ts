import { AsyncLocalStorage } from 'node:async_hooks';
import { Socket } from 'node:net';

export type SocketWatch = { dialled: string[]; restore(): void };

type Target = { host?: string; port?: number; lookup?: unknown };

/** The watch that what runs now belongs to. Test files share a process: connections that another file left behind are not those of a test. */
const current = new AsyncLocalStorage<SocketWatch>();

/**
 * Records every TCP connection that the calling test opens from now on, at the socket itself. `internet` maps addresses to local ports, so that a
 * test has public addresses to connect to; no real public address is ever dialed.
 */
export function watchSockets(internet: Record<string, number> = {}): SocketWatch {
  const dialled: string[] = [];
  const original = Socket.prototype.connect;
  const patched = function (this: Socket, ...args: unknown[]): Socket {
    if (current.getStore() !== watch) return Reflect.apply(original, this, args);
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
  const watch: SocketWatch = {
    dialled,
    restore: () => {
      Socket.prototype.connect = original;
    },
  };
  Socket.prototype.connect = patched as typeof original;
  current.enterWith(watch);
  return watch;
}
