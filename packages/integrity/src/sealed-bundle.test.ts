import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { expect, test } from 'vitest';
import { verifyBundle } from './bundle.js';
import { type BundleLine, writeBundleLine } from './bundle-format.js';
import { chainStart } from './hash-chain.js';
import { hashJson, hashText } from './hash-json.js';
import type { Entry } from './record.js';
import { type SealStatement, sealHash } from './seal.js';
import { sealEntry } from './seal-entry.js';
import { chainLink } from './verify-sealed-record.js';

/** Signs as seals were signed before the log existed. */
function signSeal(seal_hash: string, seed: number) {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.alloc(32, seed)]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const public_key = createPublicKey(key).export({ format: 'der', type: 'spki' }).toString('base64');
  const key_id = `ed25519:${hashText(public_key).slice(7, 23)}`;
  return { signature: sign(null, Buffer.from(seal_hash), key).toString('base64'), key_id, public_key };
}

const policy = { version: '1.0' };
const descriptor = { tool_id: 'add' };

const invocation = (id: string, payload: unknown): Entry => ({
  kind: 'invocation',
  id,
  tables: {
    invocations: [
      {
        ...{ invocation_id: id, tenant: 'acme', actor: 'ann', inputs: { a: 1 }, input_hash: hashJson({ a: 1 }) },
        ...{
          policy_hash: hashJson(policy),
          descriptor_hash: hashJson(descriptor),
          decision: { policy_hash: hashJson(policy) },
        },
      },
    ],
    attempts: [{ invocation_id: id, attempt: 1, worker_id: 'wrk_1', outcome: 'succeeded' }],
    results: [{ invocation_id: id, payload, output_hash: hashJson(payload), input_hash: hashJson({ a: 1 }) }],
  },
});

function bundleOf(entries: Entry[]): string[] {
  const run_id = 'run_1';
  let chain_hash = chainStart(run_id);
  const records = entries.map((entry, place): BundleLine => {
    const { record_hash, digests } = sealEntry(entry);
    chain_hash = chainLink(chain_hash, { ...entry, record_hash });
    return { line: 'record', place, ...entry, record_hash, chain_hash, digests };
  });
  const statement: SealStatement = {
    ...{
      run_id,
      generation: 1,
      tenant: 'acme',
      root: chain_hash,
      count: entries.length,
      plan_hash: null,
      policy_hash: null,
    },
    ...{ first_id: entries.at(0)?.id ?? null, last_id: entries.at(-1)?.id ?? null, sealed_at: '2026-01-02T03:04:05Z' },
  };
  const seal_hash = sealHash(statement);
  const signed = signSeal(seal_hash, 1);
  const lines: BundleLine[] = [
    { line: 'header', capstan_bundle: '1.0', run_id, kind: 'bulk', count: entries.length },
    { line: 'policy', hash: hashJson(policy), value: policy },
    { line: 'descriptor', hash: hashJson(descriptor), value: descriptor },
    ...records,
    { line: 'seal', ...statement, seal_hash, ...signed },
  ];
  return lines.map((line) => writeBundleLine(line).trimEnd());
}

const bundle = bundleOf([
  invocation('inv_1', { sum: 1 }),
  invocation('inv_2', { sum: 2 }),
  invocation('inv_3', { sum: 3 }),
]);
const named = async (lines: string[]) =>
  (await verifyBundle(lines)).mismatches.map(({ table, row, field }) => `${table} ${row} ${field}`);
const replaced = (from: string, to: string) => bundle.map((line) => line.replaceAll(from, to));

test('an unchanged bundle of version 1.0 verifies and names the key that signed it', async () => {
  const verdict = await verifyBundle(bundle);
  expect(verdict).toMatchObject({ ok: true, run_id: 'run_1', checked: 3, mismatches: [] });
  expect(verdict.signed_by).toMatch(/^ed25519:[0-9a-f]{16}$/);
});

test('a changed output is reported with its record and no other', async () => {
  expect(await named(replaced('"sum":2', '"sum":7'))).toEqual(['results inv_2 payload']);
});

test('an output that retention removed is listed, and one missing without that mark is a mismatch', async () => {
  const at = '2026-02-03T04:05:06.000Z';
  const removed = replaced('"payload":{"sum":2}', `"payload":null,"removed_at":"${at}"`);
  expect(await verifyBundle(removed)).toMatchObject({
    ok: true,
    removed: [{ table: 'results', row: 'inv_2', field: 'payload', removed_at: at }],
  });
  expect(await named(replaced('"payload":{"sum":2}', '"payload":null'))).toEqual(['results inv_2 payload']);
  expect(await named(replaced('"payload":{"sum":2}', `"payload":7,"removed_at":"${at}"`))).toHaveLength(1);
});

test('a dropped record and two swapped records are reported', async () => {
  expect(await named(bundle.toSpliced(4, 1))).toEqual(
    expect.arrayContaining(['seal_links inv_3 place', 'seal_links inv_3 chain_hash']),
  );
  const swapped = bundle.toSpliced(3, 2, bundle[4] ?? '', bundle[3] ?? '');
  expect(await named(swapped)).toEqual(
    expect.arrayContaining(['seal_links inv_2 place', 'seal_links inv_2 chain_hash']),
  );
});

test('a policy that does not match its hash and a missing policy are reported', async () => {
  expect(await named(replaced('"value":{"version":"1.0"}', '"value":{"version":"2.0"}'))).toEqual([
    `policies ${hashJson(policy)} document`,
  ]);
  expect(await named(bundle.toSpliced(1, 1))).toEqual([`policies ${hashJson(policy)} row`]);
});

test('a seal that was changed after signing is reported', async () => {
  expect(await named(replaced('2026-01-02T03:04:05Z', '2026-01-02T03:04:06Z'))).toEqual(['seals run_1 seal_hash']);
  const other = signSeal('sha256:other', 2);
  expect(
    await named(bundle.map((line) => line.replace(/"signature":"[^"]+"/, `"signature":"${other.signature}"`))),
  ).toEqual(['seals run_1 signature']);
});

test.each([
  ['that was cut off', bundle.slice(0, -1), 'cut off'],
  ['that is empty', [], 'empty'],
  ['that is not JSON', ['{'], 'not JSON'],
  [
    'of another version',
    ['{"line":"header","capstan_bundle":"9","run_id":"r","kind":"k","count":1}'],
    'not a bundle of version',
  ],
  ['with more after the seal', [...bundle, bundle[1] ?? ''], 'after the seal'],
  [
    'with a record whose rows are not objects',
    [bundle[0] ?? '', '{"line":"record","tables":{"runs":[1]}}'],
    'not a bundle line',
  ],
])('a file %s is refused', async (_, lines, message) => {
  await expect(verifyBundle(lines)).rejects.toThrow(message);
});
