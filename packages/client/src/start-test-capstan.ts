import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Client, createClient } from './create-client.js';

export type TestCapstanOptions = {
  /** The `capstan` command; by default the locally installed one, or the one on the PATH. */
  command?: string[] | undefined;
  /** Settings in addition to a free port and a separate folder. Those of this process are not used. */
  env?: Record<string, string> | undefined;
  /** How long the start may take. */
  timeout_ms?: number | undefined;
};

export type TestCapstan = { url: string; key: string; client: Client; stop(): Promise<void> };

const START_MS = 60_000;
const STOP_MS = 20_000;

/** Starts a complete Capstan for tests, on a free port, with an embedded Postgres in a temporary folder. */
export async function startTestCapstan(options: TestCapstanOptions = {}): Promise<TestCapstan> {
  const folder = await mkdtemp(join(tmpdir(), 'capstan-test-'));
  const key = `cap_${randomBytes(24).toString('base64url')}`;
  const [command = 'capstan', ...args] = options.command ?? [findCommand(process.cwd())];
  const child = spawn(command, [...args, 'up'], {
    cwd: folder,
    env: {
      ...withoutSettings(process.env),
      CAPSTAN_PORT: '0',
      CAPSTAN_DATA_DIR: join(folder, '.capstan'),
      CAPSTAN_API_KEY: key,
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const endWithUs = () => child.kill('SIGKILL');
  process.once('exit', endWithUs);
  const stop = async () => {
    process.off('exit', endWithUs);
    await end(child);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const url = await untilUp(child, options.timeout_ms ?? START_MS);
    const client = createClient({ url, key });
    return {
      url,
      key,
      client,
      stop: async () => {
        await client.close();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A test must never migrate, or write to, the database that its own program happens to be configured for. */
const withoutSettings = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^(?:CAPSTAN_.*|DATABASE_URL|REDIS_URL|PORT|OTEL_.*)$/.test(name)),
  );

function untilUp(child: ChildProcess, timeout_ms: number): Promise<string> {
  const said: string[] = [];
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Error([`Capstan did not start: ${why}`, ...said.slice(-20)].join('\n')));
    const timer = setTimeout(() => fail(`not within ${timeout_ms / 1000} s`), timeout_ms);
    const hear = (line: string) => {
      said.push(line);
      const url = /is up at (https?:\/\/\S+)/.exec(line)?.[1];
      if (!url) return;
      clearTimeout(timer);
      resolve(url);
    };
    for (const stream of [child.stdout, child.stderr]) if (stream) createInterface(stream).on('line', hear);
    child.once('error', (error) => fail(error.message));
    child.once('exit', (code, signal) => fail(`it ended (${signal ?? code})`));
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await gone;
  clearTimeout(timer);
}

/** Finds the command as `npx` does: in `node_modules/.bin` of this folder or one above, otherwise on the PATH. */
function findCommand(cwd: string): string {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const command = join(folder, 'node_modules', '.bin', 'capstan');
    if (existsSync(command)) return command;
    if (dirname(folder) === folder) break;
  }
  const found = (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'capstan')));
  if (found) return 'capstan';
  throw new Error('The command capstan is not installed: npm install --save-dev capstan, or give { command }.');
}
