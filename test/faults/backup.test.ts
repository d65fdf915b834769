import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { migrateDatabase } from '@capstan/store';
import { describe, expect, test } from 'vitest';
import { atEnd } from '../fixtures/at-end.js';
import { eventually } from '../fixtures/eventually.js';
import { freePort } from '../fixtures/free-port.js';
import { onServer } from '../fixtures/on-server.js';
import { hardestQueue } from '../fixtures/queues.js';
import { tempDir } from '../fixtures/temp-dir.js';
import { checkInvariants } from './check-invariants.js';
import { redisFor } from './redis-for.js';
import { startCluster } from './start-cluster.js';
import { submitSums } from './submit-sums.js';
import { untilAllEnded } from './until-all-ended.js';

/** A Postgres with its tools as Debian installs it. The embedded one has no pg_dump, and pg_dump must not be older than its server. */
function findPostgres(): string | undefined {
  const root = '/usr/lib/postgresql';
  const folders = existsSync(root) ? readdirSync(root).map((version) => join(root, version, 'bin')) : [];
  const found = folders.find((folder) =>
    ['postgres', 'initdb', 'pg_dump', 'pg_restore'].every((name) => existsSync(join(folder, name))),
  );
  if (found === undefined)
    console.warn(
      '\n  !! NOT TESTED: backup and restore, because there is no Postgres with pg_dump in /usr/lib/postgresql.\n',
    );
  return found;
}

const programs = findPostgres();
const NOBODY = 65_534;

/** Postgres refuses to run as root. */
const asNobody = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

async function startPostgres(folder_of_programs: string, folder: string): Promise<string> {
  const data = join(folder, 'postgres');
  await mkdir(data);
  await chmod(folder, 0o711);
  if ('uid' in asNobody) await chown(data, NOBODY, NOBODY);
  const initdb = ['-D', data, '-U', 'capstan', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
  execFileSync(join(folder_of_programs, 'initdb'), initdb, { ...asNobody, cwd: data, stdio: 'ignore' });
  const port = await freePort();
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'fsync=off',
    'max_connections=200',
  ];
  const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
  const server = spawn(join(folder_of_programs, 'postgres'), args, { ...asNobody, cwd: data, stdio: 'ignore' });
  const ended = once(server, 'exit');
  atEnd(async () => {
    server.kill('SIGQUIT');
    await ended;
  });
  const url = `postgres://capstan@127.0.0.1:${port}/postgres`;
  await eventually(() => onServer(url, 'SELECT 1').then(() => true));
  return url;
}

describe.runIf(programs).each(hardestQueue)('on the $name queue', (queue) => {
  test('every call in a dump that was made under load ends after it is restored elsewhere with an empty Redis', async () => {
    const bin = (name: string) => join(programs ?? '', name);
    const folder = await tempDir();
    const server_url = await startPostgres(programs ?? '', folder);
    await onServer(server_url, 'CREATE DATABASE capstan');
    const database_url = server_url.replace(/\/postgres$/, '/capstan');
    await migrateDatabase(database_url);
    const cluster = await startCluster({ redis: await redisFor(queue), database_url });

    // The queue is paused for a while, so that the dump contains waiting, running and ended calls.
    await submitSums(cluster.client, { bulk: 50, lone: 20 });
    let over = false;
    const load = async () => {
      while (!over) await submitSums(cluster.client, { bulk: 20, lone: 20 });
    };
    const running = load();
    await eventually(async () => {
      const [row] = await cluster.ask<{ count: number }>('SELECT count(*)::int FROM results');
      return (row?.count ?? 0) > 50;
    });
    await cluster.client.queues.pause('builtin');
    await submitSums(cluster.client, { bulk: 30, lone: 0 });
    const file = join(folder, 'capstan.dump');
    execFileSync(bin('pg_dump'), ['--format=custom', `--file=${file}`, database_url]);
    over = true;
    await running;

    const restored_url = server_url.replace(/\/postgres$/, '/restored');
    await onServer(server_url, 'CREATE DATABASE restored');
    execFileSync(bin('pg_restore'), [`--dbname=${restored_url}`, '--no-owner', '--exit-on-error', file]);
    const restored = await startCluster({ redis: await redisFor(queue), database_url: restored_url });
    const [before] = await restored.ask<{ waiting: number; ended: number }>(
      'SELECT (SELECT count(*)::int FROM work) AS waiting, (SELECT count(*)::int FROM results) AS ended',
    );
    expect(before?.waiting).toBeGreaterThan(0);
    expect(before?.ended).toBeGreaterThan(50);
    await restored.client.queues.resume('builtin');
    await untilAllEnded(restored.ask);
    await eventually(async () => expect(await restored.ask('SELECT claim_id FROM claims')).toEqual([]));
    await checkInvariants(restored);
  });
});
