import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, readlink, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { execa } from 'execa';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './start-embedded-postgres.js';

const as_root = process.getuid?.() === 0;
let root: string;
let template: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'capstan-postgres-'));
  template = join(root, 'template', 'postgres');
  const postgres = await start(template);
  await query(postgres.url, 'CREATE TABLE notes (text text)');
  await postgres.stop();
});

afterAll(() => rm(root, { recursive: true, force: true }));

describe('a first start', () => {
  test('creates a database, with a new password in a private file', async () => {
    const data_dir = join(await newFolder(), 'deep', 'postgres');
    const postgres = await start(data_dir);
    expect(await query(postgres.url, 'SELECT current_database(), current_user')).toEqual([
      { current_database: 'capstan', current_user: 'capstan' },
    ]);
    const password = (await readFile(`${data_dir}.password`, 'utf8')).trim();
    expect(password.length).toBeGreaterThan(30);
    expect(postgres.url).toBe(`postgres://capstan:${password}@127.0.0.1:${postgres.port}/capstan`);
    expect((await stat(`${data_dir}.password`)).mode & 0o777).toBe(0o600);
  });

  test('that was killed halfway is repeated, and its leftovers are removed', async () => {
    const data_dir = join(await newFolder(), 'postgres');
    const killed = startInProcess(data_dir);
    await vi.waitFor(async () => expect(await drafts(data_dir)).toHaveLength(1), { interval: 5, timeout: 30_000 });
    killed.process.kill('SIGKILL');
    await once(killed.process, 'exit');
    const [remains] = await drafts(data_dir);

    const postgres = await start(data_dir);
    expect(await query(postgres.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(await drafts(data_dir)).not.toContain(remains);
  });

  test('that happens twice at once leaves one database, and the slower one is told who owns it', async () => {
    const data_dir = join(await newFolder(), 'postgres');
    const outcomes = await Promise.allSettled([start(data_dir), start(data_dir)]);
    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected']);
    // Which error it gets depends on how far the other start was; both name the folder and the process.
    expect(String(outcomes.find((outcome) => outcome.status === 'rejected')?.reason)).toMatch(
      /already runs a Postgres|is in use by .* has pid \d+/,
    );
    expect(await drafts(data_dir)).toEqual([]);
  });

  test('refuses a folder that contains other files', async () => {
    const data_dir = await newFolder();
    await writeFile(join(data_dir, 'thesis.txt'), 'mine');
    await expect(start(data_dir)).rejects.toThrow(/has files but no database/);
  });
});

describe('committed data is still there', () => {
  test('after a restart', async () => {
    const data_dir = await newDatabase();
    const first = await start(data_dir);
    await query(first.url, `INSERT INTO notes VALUES ('kept')`);
    await first.stop();
    expect(await first.exited).toEqual({ code: 0, signal: null });
    const second = await start(data_dir);
    expect(await query(second.url, 'SELECT text FROM notes')).toEqual([{ text: 'kept' }]);
  });

  test('after Postgres was killed, and the owner is told of its exit', async () => {
    const data_dir = await newDatabase();
    const first = await start(data_dir, { settings: { synchronous_commit: 'on' } });
    await query(first.url, `INSERT INTO notes VALUES ('kept')`);
    process.kill(first.pid, 'SIGKILL');
    expect(await first.exited).toEqual({ code: null, signal: 'SIGKILL' });
    const second = await start(data_dir);
    expect(await query(second.url, 'SELECT text FROM notes')).toEqual([{ text: 'kept' }]);
  });

  test('as soon as Postgres is started again after its owner was killed', async () => {
    const data_dir = await newDatabase();
    const owner = startInProcess(data_dir);
    const { url } = await owner.started;
    await query(url, `INSERT INTO notes VALUES ('kept')`);
    owner.process.kill('SIGKILL');
    await once(owner.process, 'exit');
    const second = await start(data_dir);
    expect(await query(second.url, 'SELECT text FROM notes')).toEqual([{ text: 'kept' }]);
  });

  test.runIf(as_root)(
    'when Postgres runs as different users: in a folder that only root can enter, in an open one, and back',
    async () => {
      const data_dir = await newDatabase();
      const owners: number[] = [];
      for (const mode of [0o700, 0o711, 0o700]) {
        await chmod(root, mode);
        await chmod(dirname(data_dir), mode);
        const postgres = await start(data_dir, { settings: { synchronous_commit: 'on' } });
        await query(postgres.url, `INSERT INTO notes VALUES ('${mode.toString(8)}')`);
        owners.push((await stat(data_dir)).uid);
        // Killed, so that the next one also recovers files of another owner.
        process.kill(postgres.pid, 'SIGKILL');
        await postgres.exited;
      }
      const last = await start(data_dir);
      expect(await query(last.url, 'SELECT text FROM notes')).toEqual([
        { text: '700' },
        { text: '711' },
        { text: '700' },
      ]);
      // If this repository is below a folder that only root can enter, so are the binaries, and only root can run them.
      const unprivileged = (await isOpenToAll(import.meta.dirname)) ? expect.toSatisfy((uid: number) => uid > 0) : 0;
      expect(owners).toEqual([0, unprivileged, 0]);
    },
  );
});

describe('no process of Postgres is left', () => {
  test('after a stop', async () => {
    const data_dir = await newDatabase();
    const postgres = await start(data_dir);
    const running = await findProcessesOf(data_dir);
    expect(running.length).toBeGreaterThan(3);
    await postgres.stop();
    await vi.waitFor(async () => expect(await findProcessesOf(data_dir)).toEqual([]), { timeout: 30_000 });
  });

  test.each(['SIGKILL', 'SIGTERM'] as const)('after %s to the process that started it', async (signal) => {
    const data_dir = await newDatabase();
    const owner = startInProcess(data_dir);
    await owner.started;
    owner.process.kill(signal);
    await once(owner.process, 'exit');
    await vi.waitFor(async () => expect(await findProcessesOf(data_dir)).toEqual([]), { timeout: 30_000 });
  });

  test('after the guardian was killed', async () => {
    const data_dir = await newDatabase();
    const postgres = await start(data_dir);
    process.kill(await parentOf(postgres.pid), 'SIGKILL');
    expect(await postgres.exited).toEqual({ code: null, signal: 'SIGKILL' });
    await vi.waitFor(async () => expect(await findProcessesOf(data_dir)).toEqual([]), { timeout: 30_000 });
  });
});

test('Ctrl-C reaches the process that started Postgres, and Postgres keeps running', async () => {
  const owner = startInProcess(await newDatabase());
  const { url } = await owner.started;
  process.kill(-(owner.process.pid ?? Number.NaN), 'SIGINT');
  expect((await owner.lines.next()).value).toBe('interrupted');
  expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

test('a folder in use by another process is refused with its pid', async () => {
  const data_dir = await newDatabase();
  const owner = startInProcess(data_dir);
  const { pid } = await owner.started;
  const refusal = await start(data_dir).catch(String);
  expect(refusal).toContain(`in use by another capstan (pid ${owner.process.pid}); its Postgres has pid ${pid}`);
  expect(refusal).toContain(`kill ${owner.process.pid}`);
});

test('a lock file whose pid belongs to another process by now does not prevent Postgres from starting', async () => {
  const data_dir = await newDatabase();
  await writeFile(join(data_dir, 'postmaster.pid'), `${process.ppid}\n${data_dir}\n1\n5432\n\n127.0.0.1\n\nready   \n`);
  const postgres = await start(data_dir);
  expect(await query(postgres.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

test('a port in use is refused with an error that names it', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  await expect(start(await newDatabase(), { port })).rejects.toThrow(`Port ${port} on 127.0.0.1 is taken`);
  server.close();
});

test('a wrong setting is refused with the error of Postgres', async () => {
  const settings = { max_connections: 'many' };
  await expect(start(await newDatabase(), { settings })).rejects.toThrow(
    /invalid value for parameter "max_connections"/,
  );
});

test('a log over its limit is emptied at the start', async () => {
  const data_dir = await newDatabase();
  await truncate(`${data_dir}.log`, 11 * 1024 * 1024);
  await start(data_dir);
  expect((await stat(`${data_dir}.log`)).size).toBeLessThan(100_000);
});

const running: EmbeddedPostgres[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((postgres) => postgres.stop()));
});

async function start(data_dir: string, options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ data_dir, durable: false, ...options });
  running.push(postgres);
  return postgres;
}

async function newFolder(): Promise<string> {
  return mkdtemp(join(root, 'test-'));
}

/** A copy of the template, which takes a tenth of the time of an initdb. */
async function newDatabase(): Promise<string> {
  const folder = await newFolder();
  await execa('cp', ['-a', `${dirname(template)}/.`, folder]);
  return join(folder, 'postgres');
}

async function drafts(data_dir: string): Promise<string[]> {
  const names = await readdir(dirname(data_dir));
  return names.filter((name) => name.startsWith(`${basename(data_dir)}.initdb-`));
}

async function query(connectionString: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** A separate process (the built code, in its own group as from a terminal) that starts Postgres and keeps running. */
function startInProcess(data_dir: string) {
  const module = new URL('../../dist/embedded-postgres/start-embedded-postgres.js', import.meta.url).href;
  const script = `
    import { startEmbeddedPostgres } from ${JSON.stringify(module)};
    process.on('SIGINT', () => console.log('interrupted'));
    const { url, pid } = await startEmbeddedPostgres({ data_dir: ${JSON.stringify(data_dir)}, durable: false });
    console.log(JSON.stringify({ url, pid }));
  `;
  const child: ChildProcess & { stdout: NodeJS.ReadableStream } = spawn(
    process.execPath,
    ['--input-type=module', '--eval', script],
    { detached: true, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const first = lines.next();
  return {
    process: child,
    lines,
    get started(): Promise<{ url: string; pid: number }> {
      return first.then(({ value }) => JSON.parse(value));
    },
  };
}

/** On Linux: every process of a database, its guardian too. */
async function findProcessesOf(data_dir: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map((pid) => describeProcess(pid, data_dir)));
  return found.filter((description) => description !== undefined);
}

async function describeProcess(pid: string, data_dir: string): Promise<string | undefined> {
  const command = await readFile(join('/proc', pid, 'cmdline'), 'utf8').catch(() => '');
  const folder = await readlink(join('/proc', pid, 'cwd')).catch(() => '');
  const concerned = folder === data_dir || command.includes(data_dir);
  return concerned && Number(pid) !== process.pid ? `${pid} ${command.replaceAll('\0', ' ')}` : undefined;
}

async function parentOf(pid: number): Promise<number> {
  return Number((await execa`ps -o ppid= -p ${pid}`).stdout);
}

/** True if everybody may enter every folder down to this one. */
async function isOpenToAll(folder: string): Promise<boolean> {
  if (((await stat(folder)).mode & 0o001) === 0) return false;
  return folder === dirname(folder) || isOpenToAll(dirname(folder));
}
