import { expect, test } from 'vitest';
import { verifyBundle } from './bundle.js';
import { type BundleLine, writeBundleLine } from './bundle-format.js';
import { logOrigin, verifierKey, writeCheckpoint } from './checkpoint.js';
import { hashJson } from './hash-json.js';
import { fieldDigests, type LogRecord, recordHash } from './log-record.js';
import { createTree } from './merkle-proof.js';
import { createEdge, leafHash } from './merkle-tree.js';
import { parseSealKey } from './seal.js';

const key = parseSealKey(Buffer.alloc(32, 7).toString('base64'));
const origin = logOrigin('0d4b', 'acme');
const policy = { version: '1.0' };
const descriptor = { tool_id: 'add' };

const call = (id: string, sum: number): LogRecord => ({
  kind: 'invocation',
  id,
  tables: {
    invocations: [
      {
        ...{
          invocation_id: id,
          run_id: 'run_1',
          tenant: 'acme',
          actor: 'ann',
          inputs: '{"a":1}',
          input_hash: hashJson({ a: 1 }),
        },
        ...{ policy_hash: hashJson(policy), descriptor_hash: hashJson(descriptor) },
        decision: JSON.stringify({ policy_hash: hashJson(policy) }),
      },
    ],
    results: [
      {
        ...{ status: 'succeeded', payload: JSON.stringify({ sum }), output_hash: hashJson({ sum }) },
        input_hash: hashJson({ a: 1 }),
      },
    ],
  },
});
const calls = [call('inv_1', 1), call('inv_2', 2), call('inv_3', 3)];
const run: LogRecord = {
  ...{ kind: 'run', id: 'run_1' },
  tables: { runs: [{ run_id: 'run_1', kind: 'bulk' }], calls: calls.map(({ id }) => ({ invocation_id: id })) },
};

async function bundleOf(records: readonly LogRecord[]): Promise<string[]> {
  const edge = createEdge();
  const leaves = records.map((record) => leafHash(recordHash(record)));
  for (const leaf of leaves) edge.append(leaf);
  const tree = createTree(async () => Buffer.concat(leaves));
  const note = writeCheckpoint({ origin, size: edge.size, root: edge.root() }, key);
  const entries = records.map(
    async (record, index): Promise<BundleLine> => ({
      ...{ line: 'entry', index, ...record, record_hash: recordHash(record).toString('base64') },
      digests: fieldDigests(record).toString('base64'),
      proof: (await tree.inclusionProof(index, edge.size)).map((hash) => hash.toString('base64')),
    }),
  );
  const lines: BundleLine[] = [
    { line: 'header', capstan_bundle: '2.0', run_id: 'run_1', kind: 'bulk', count: records.length },
    { line: 'checkpoint', note, key: verifierKey(origin, key) },
    { line: 'policy', hash: hashJson(policy), value: policy },
    { line: 'descriptor', hash: hashJson(descriptor), value: descriptor },
    ...(await Promise.all(entries)),
    { line: 'end', count: records.length },
  ];
  return lines.map((line) => writeBundleLine(line).trimEnd());
}

const bundle = await bundleOf([run, ...calls]);
const named = async (lines: string[]) =>
  (await verifyBundle(lines)).mismatches.map(({ table, row, field }) => `${table} ${row} ${field}`);
const replaced = (from: string, to: string) => bundle.map((line) => line.replaceAll(from, to));

test('an unchanged bundle verifies and names the key that signed its checkpoint', async () => {
  expect(await verifyBundle(bundle)).toMatchObject({
    ok: true,
    run_id: 'run_1',
    checked: 4,
    signed_by: verifierKey(origin, key),
  });
});

test('a changed field and a changed output are reported with their records', async () => {
  const eve = bundle.map((line) =>
    line.includes('"id":"inv_2"') ? line.replace('"actor":"ann"', '"actor":"eve"') : line,
  );
  expect(await named(eve)).toEqual(['invocations inv_2 actor']);
  expect(await named(replaced('{\\"sum\\":2}', '{\\"sum\\":7}'))).toEqual(['results inv_2 payload']);
});

test('an output that retention removed is listed, and the bundle still verifies', async () => {
  const removed = replaced('"payload":"{\\"sum\\":2}"', '"payload":null,"removed_at":"2026-02-03 04:05:06+00"');
  expect(await verifyBundle(removed)).toMatchObject({
    ok: true,
    removed: [{ table: 'results', row: 'inv_2', field: 'payload', removed_at: '2026-02-03T04:05:06Z' }],
  });
});

test('a dropped record and a record of another run are reported', async () => {
  expect(await named(bundle.toSpliced(5, 1))).toEqual(['runs run_1 count', 'invocations inv_1 row']);
  const [stranger] = (
    await bundleOf([{ ...call('inv_9', 1), tables: { ...call('inv_9', 1).tables, runs: [] } }])
  ).slice(4);
  expect(await named(bundle.toSpliced(5, 1, stranger ?? ''))).toEqual(
    expect.arrayContaining(['log_batches inv_9 proof', 'invocations inv_1 row', 'invocations inv_9 row']),
  );
});

test('a record that was changed together with its hash is reported as not in the log', async () => {
  const forged = await bundleOf([run, call('inv_1', 8), ...calls.slice(1)]);
  expect(await named(bundle.toSpliced(5, 1, forged[5] ?? ''))).toEqual(['log_batches inv_1 proof']);
});

test('a checkpoint that was changed after signing is reported', async () => {
  expect(await named(replaced(`${origin}\\n4`, `${origin}\\n5`))).toContain(`log_checkpoints ${origin} signature`);
});

test('a bundle without the record of the run itself is incomplete', async () => {
  expect(await named(bundle.toSpliced(4, 1))).toEqual(['runs run_1 count', 'runs run_1 row']);
});

test.each([
  ['that was cut off', bundle.slice(0, -1), 'cut off'],
  ['without a checkpoint', bundle.toSpliced(1, 1), 'before the checkpoint'],
  ['with two checkpoints', bundle.toSpliced(1, 0, bundle[1] ?? ''), 'second checkpoint'],
  ['with more after the end', [...bundle, bundle[2] ?? ''], 'after the end'],
  [
    'with a cell that is not text',
    [...bundle.slice(0, 4), (bundle[5] ?? '').replace('"actor":"ann"', '"actor":1')],
    'not a bundle line',
  ],
])('a file %s is refused', async (_, lines, message) => {
  await expect(verifyBundle(lines)).rejects.toThrow(message);
});
