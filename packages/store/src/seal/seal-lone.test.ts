import { createPublicKey } from 'node:crypto';
import { loneRunId } from '@capstan/contracts';
import { isSigned, parseSealKey } from '@capstan/integrity';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { verifyRun } from '../record/verify-run.js';
import { openTestStore } from '../testing/open-test-store.js';
import { endOne, startOne } from '../testing/run-one.js';
import { findUnsealedLone, forgetPending } from './find-unsealed.js';
import { readSeal } from './read-seal.js';
import { sealLone } from './seal-lone.js';

const store = await openTestStore();
const key = parseSealKey(Buffer.alloc(32, 7).toString('base64'));

test('what has ended is found, sealed once, and signed; what runs is looked at again later', async () => {
  const ended = await endOne(store, 'succeeded');
  const failed = await endOne(store, 'failed');
  await startOne(store);
  const found = await findUnsealedLone(store, 100, 0);
  expect(found.toSorted()).toEqual([ended.invocation_id, failed.invocation_id].sort());
  expect(await sealLone(store, found, key)).toBe(2);
  expect(await sealLone(store, found, key)).toBe(0);
  await forgetPending(store, found);
  expect(await findUnsealedLone(store, 100, 0)).toEqual([]);

  const seal = await readSeal(store.db, loneRunId(ended.invocation_id));
  if (!seal) throw new Error('it is not sealed');
  expect(isSigned(seal)).toBe(true);
  expect(isSigned({ ...seal, seal_hash: seal.root })).toBe(false);
  expect(
    createPublicKey({ key: Buffer.from(seal.public_key ?? '', 'base64'), format: 'der', type: 'spki' })
      .asymmetricKeyType,
  ).toBe('ed25519');

  const tables = new Set<string>();
  for await (const { mismatches } of verifyRun(store, { ...seal, signature: null }))
    for (const { table, field } of mismatches) tables.add(`${table}.${field}`);
  // Test rows refer to no real policy or descriptor.
  expect([...tables].sort()).toEqual(['descriptors.row', 'policies.row', 'seals.signature']);
});

test('one that is too young yet is not stepped over for an older one that came after it', async () => {
  const young = await endOne(store, 'succeeded');
  const old = await endOne(store, 'succeeded');
  await sql`UPDATE invocations SET created_at = now() - interval '1 hour' WHERE invocation_id = ${old.invocation_id}`.execute(
    store.db,
  );
  expect(await findUnsealedLone(store, 100)).toEqual([]);
  await sql`UPDATE invocations SET created_at = now() - interval '1 hour' WHERE invocation_id = ${young.invocation_id}`.execute(
    store.db,
  );
  expect((await findUnsealedLone(store, 100)).toSorted()).toEqual([young.invocation_id, old.invocation_id].sort());
});
