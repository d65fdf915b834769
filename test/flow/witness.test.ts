import { generateKeyPairSync } from 'node:crypto';
import { text } from 'node:stream/consumers';
import type { Client } from '@capstan/client';
import {
  createTree,
  isConsistent,
  isSignedBy,
  parseCheckpoint,
  parseSealKey,
  type SignedCheckpoint,
  tilePath,
  verifierKey,
  verifyBundle,
} from '@capstan/integrity';
import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { atEnd } from '../fixtures/at-end.js';
import { add, endedBulk } from './ended-bulk.js';
import { ALLOW_ALL, type System, startSystem } from './start-system.js';

const pem = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
const key = parseSealKey(pem);

let system: System;
beforeAll(async () => {
  system = await startSystem({ name: 'postgres' }, { seal_key: key });
  await system.admin.policies.put('default', ALLOW_ALL);
});

/**
 * Somebody who does not trust the installation: keeps the key and the last checkpoint, and accepts a new checkpoint only with a proof
 * that the log still begins with everything that was there before.
 */
function createWitness(client: Client, verifier_key: string) {
  let kept: SignedCheckpoint | null = null;
  return {
    kept: () => kept,
    async look(): Promise<'kept' | 'not signed' | 'rewritten'> {
      const seen = parseCheckpoint(await client.log.checkpoint());
      if (!isSignedBy(seen, verifier_key)) return 'not signed';
      if (kept) {
        if (seen.size < kept.size) return 'rewritten';
        const { proof } = await client.log.consistency(kept.size, seen.size);
        const hashes = proof.map((hash) => Buffer.from(hash, 'base64'));
        if (!isConsistent(kept, seen, hashes)) return 'rewritten';
      }
      kept = seen;
      return 'kept';
    },
  };
}

/** Runs some calls and verifies them, which adds them to the log. */
async function endSome(count: number): Promise<string> {
  const run_id = await endedBulk(system, count);
  expect(await system.admin.records.verify(run_id)).toMatchObject({ ok: true });
  return run_id;
}

const keyOfLog = async () => verifierKey(parseCheckpoint(await system.admin.log.checkpoint()).origin, key);

/** A connection with the power of the database owner. */
async function openDirect(): Promise<pg.Client> {
  const direct = new pg.Client({ connectionString: system.database.url });
  await direct.connect();
  atEnd(() => direct.end());
  await direct.query('SET session_replication_role = replica');
  return direct;
}

describe('an outsider', () => {
  test('can compute the root from tiles, and verify a bundle with the key of the log', async () => {
    const run_id = await endSome(300);
    const head = parseCheckpoint(await system.admin.log.checkpoint());
    const tree = createTree(async (level, index) => {
      const width = Math.min(256, Math.floor(head.size / 256 ** level) - index * 256);
      return width > 0 ? system.admin.log.tile(tilePath({ level, index, width })) : Buffer.alloc(0);
    });
    expect((await tree.root(head.size)).equals(head.root)).toBe(true);
    const entries = await system.admin.log.tile(tilePath({ level: 'entries', index: 0, width: 256 }));
    expect(entries).toHaveLength(256 * 34);

    const bundle = (await text(await system.admin.records.bundle(run_id))).split('\n');
    expect(await verifyBundle(bundle, { key: await keyOfLog() })).toMatchObject({ ok: true, checked: 301 });
    const other = verifierKey(head.origin, parseSealKey(Buffer.alloc(32, 1).toString('base64')));
    expect((await verifyBundle(bundle, { key: other })).mismatches).toMatchObject([
      { table: 'log_checkpoints', field: 'signature' },
    ]);
  });

  test.each([
    'tile/0/001',
    'tile/0/000.p/0',
    'tile/0/000.p/300',
    'tile/9/000',
    'tile/0/x000/000',
    'tile/0/../checkpoint',
  ])('gets 404 for the tile path %s', async (path) => {
    await expect(system.clientFor(await tenantKey()).log.tile(path)).rejects.toMatchObject({ status: 404 });
  });

  test('from another tenant cannot read this log', async () => {
    const stranger = system.clientFor(await tenantKey());
    await expect(stranger.log.checkpoint()).rejects.toMatchObject({ status: 404 });
    const { invocation_id } = await system.admin.submit(add(1), { wait_s: 30 });
    expect(await system.admin.log.prove(invocation_id)).toMatchObject({ id: invocation_id });
    await expect(stranger.log.prove(invocation_id)).rejects.toMatchObject({ status: 404 });
  });
});

test('verification names a checkpoint that was changed after it was signed, and refuses one that it cannot parse', async () => {
  const run_id = await endSome(2);
  const direct = await openDirect();
  const changed = async (how: string) => {
    const { rows } = await direct.query(`SELECT tenant, size, note FROM log_checkpoints`);
    await direct.query(`UPDATE log_checkpoints SET note = ${how}`);
    const told = await system.admin.records.verify(run_id).then(
      ({ mismatches }) => mismatches.map(({ table, field }) => `${table}.${field}`),
      ({ code }: { code: number }) => [`refused ${code}`],
    );
    for (const { tenant, size, note } of rows)
      await direct.query(`UPDATE log_checkpoints SET note = $3 WHERE tenant = $1 AND size = $2`, [tenant, size, note]);
    return told;
  };
  expect(await changed(`replace(note, E'\\n\\n', E'\\nmore\\n\\n')`)).toEqual(['log_checkpoints.signature']);
  expect(await changed(`'nothing'`)).toEqual(['refused 4003']);
  expect(await system.admin.records.verify(run_id)).toMatchObject({ ok: true });
});

const tenantKey = async (): Promise<string> =>
  (await system.admin.keys.create({ tenant: 'other', actor: 'eve', roles: ['audit'] })).key;

describe('a witness', () => {
  test('follows the log as it grows, and notices a rewritten log although its records verify', async () => {
    const run_id = await endSome(3);
    const witness = createWitness(system.admin, await keyOfLog());
    expect(await witness.look()).toBe('kept');
    await endSome(300);
    expect(await witness.look()).toBe('kept');
    const before = witness.kept();

    // Somebody with the database and the key changes a result and rebuilds the whole log.
    const direct = await openDirect();
    await direct.query(
      `UPDATE results SET error = 'nothing happened' WHERE invocation_id IN (
      SELECT invocation_id FROM invocations WHERE run_id = $1)`,
      [run_id],
    );
    for (const table of ['log_batches', 'log_nodes', 'log_checkpoints', 'log_heads'])
      await direct.query(`DELETE FROM ${table}`);
    await direct.query(`UPDATE log_cursor SET xid = '0', seq = 0`);
    await endSome(2);
    expect(await system.admin.records.verify(run_id)).toMatchObject({ ok: true });
    expect(parseCheckpoint(await system.admin.log.checkpoint()).size).toBeGreaterThan(before?.size ?? 0);
    expect(await witness.look()).toBe('rewritten');
    expect(witness.kept()).toBe(before);
  });
});
