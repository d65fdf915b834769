import type { Client } from '@capstan/client';
import type { Connection, ConnectionOptions } from '@capstan/client/connection';
import { visibleJson } from '@capstan/contracts/visible-text';
import { resolveConnection } from './connection.js';
import type { InputStream, Io } from './io.js';
import { createOutput, type Output } from './output.js';

/** The abort reason for Ctrl-C. */
class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

export type GlobalOptions = ConnectionOptions & {
  json?: boolean | undefined;
  color?: boolean | undefined;
  raw?: boolean | undefined;
};

/** The arguments of a command's body. */
export type Session = {
  out: Output;
  err: Output;
  json: boolean;
  stdin: InputStream;
  env: Io['env'];
  cwd: string;
  now(): Date;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  connection(): Connection;
  /** Whether the caller named a gateway: by an option or a variable. */
  names_gateway: boolean;
  /** Created on first use, because half of the commands need no connection. */
  client(): Promise<Client>;
  /** Prints JSON, indented on a terminal and on one line in a pipe. */
  printJson(value: unknown): Promise<void>;
  close(): Promise<void>;
};

export const openSession = (options: GlobalOptions, io: Io): Session => {
  const outputs = { color: options.color !== false, raw: options.raw === true };
  const out = createOutput(io.stdout, io.env, outputs);
  const controller = new AbortController();
  const release = io.onInterrupt(() => controller.abort(new Interrupted()));
  let connection: Connection | null = null;
  let client: Promise<Client> | null = null;
  const connect = async (): Promise<Client> => {
    io.beforeConnecting?.();
    const { createClient } = await import('@capstan/client');
    const { url, key } = session.connection();
    return createClient({ url, key: key?.key });
  };
  const session: Session = {
    out,
    err: createOutput(io.stderr, io.env, outputs),
    json: options.json === true,
    stdin: io.stdin,
    env: io.env,
    cwd: io.cwd,
    now: () => io.now(),
    signal: controller.signal,
    connection() {
      connection ??= resolveConnection(options, io.env, io.cwd);
      return connection;
    },
    names_gateway: [options.url, options.profile, io.env.CAPSTAN_URL, io.env.CAPSTAN_PROFILE].some(Boolean),
    client() {
      client ??= connect();
      return client;
    },
    printJson: (value) => out.line(visibleJson(value, out.tty ? 2 : undefined)),
    async close() {
      release();
      await (await client?.catch(() => null))?.close();
    },
  };
  return session;
};
