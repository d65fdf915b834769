import { randomInt } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { awaitFormerPostmaster } from './await-former-postmaster.js';
import { awaitReady } from './await-ready.js';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import type { Binaries } from './find-binaries.js';
import type { Launch } from './launch.js';
import { boundServerLog, readServerLog, serverLogFile } from './server-log.js';
import { serverArguments } from './server-settings.js';
import { type GuardedServer, startGuarded } from './start-guarded.js';
import type { StartLog } from './start-log.js';

interface ServerStart {
  data_dir: string;
  binaries: Binaries;
  launch: Launch;
  port: number | undefined;
  durable: boolean;
  settings: Readonly<Record<string, string>>;
  log: StartLog;
}

const ATTEMPTS = 20;

/** Starts Postgres, and retries after temporary problems: a port that was just taken, an earlier run that is still stopping. */
export async function startServer(start: ServerStart): Promise<GuardedServer & { port: number }> {
  const { data_dir, binaries, launch, durable, settings, log } = start;
  const log_file = serverLogFile(data_dir);
  await boundServerLog(log_file);
  for (let attempt = 1; ; attempt++) {
    const port = start.port ?? (await freePort());
    const offset = await sizeOf(log_file);
    const command = [binaries.postgres, '-D', data_dir, ...serverArguments({ port, durable, settings })];
    const server = await startGuarded({ command, launch, log_file });
    const outcome = await awaitReady(server, { data_dir, log });
    if (outcome === 'ready') return { ...server, port };

    const said = await readServerLog(log_file, offset);
    if (attempt < ATTEMPTS && (await canPass(said, start))) continue;
    throw explain(said, outcome, { port, data_dir });
  }
}

async function canPass(said: string, { port, data_dir, log }: ServerStart): Promise<boolean> {
  if (said.includes('Address already in use')) return port === undefined;
  if (said.includes(`lock file "postmaster.pid" already exists`)) {
    await awaitFormerPostmaster(data_dir, log);
    return true;
  }
  if (said.includes('pre-existing shared memory block')) {
    // The postmaster was killed, and its children, which notice by themselves, have not exited yet.
    await delay(250);
    return true;
  }
  return false;
}

function explain(said: string, exit: unknown, { port, data_dir }: { port: number; data_dir: string }): Error {
  const tail = said.trim().split('\n').slice(-12).join('\n');
  if (said.includes('Address already in use')) {
    return new EmbeddedPostgresError(`Port ${port} on 127.0.0.1 is taken, so Postgres cannot listen on it.`, {
      suggestion: 'Choose another port, or leave it out to use a free one.',
    });
  }
  return new EmbeddedPostgresError(`Postgres ended while starting (${JSON.stringify(exit)}):\n${tail}`, {
    suggestion: `Correct what it names (its log is ${serverLogFile(data_dir)}), or set CAPSTAN_DATA_DIR or DATABASE_URL.`,
  });
}

const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    (entry) => entry.size,
    () => 0,
  );

// Below the range from which Linux takes the ports of outgoing connections (32768 up): a client that keeps
// dialling a stopped server on a port of that range can be given that very port and connect to itself, and then
// the server cannot come back.
const LOWEST = 15_000;
const HIGHEST = 32_000;

async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const port = randomInt(LOWEST, HIGHEST);
    if (await canListen(port)) return port;
  }
  throw new Error(`no free port found on 127.0.0.1 between ${LOWEST} and ${HIGHEST}`);
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
