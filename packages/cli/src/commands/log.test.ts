import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createEdge,
  createTree,
  leafHash,
  logOrigin,
  parseSealKey,
  verifierKey,
  writeCheckpoint,
} from '@capstan/integrity';
import { beforeAll, describe, expect, it } from 'vitest';
import { run } from '../testing/run-in-test.js';
import { withAnswers } from '../testing/with-answers.js';

const key = parseSealKey(Buffer.alloc(32, 7).toString('base64'));
const origin = logOrigin('0d4b', 'acme');
const signed_by = verifierKey(origin, key);

/** A log of so many entries, of which the first is `first`. */
function logOf(size: number, first = '0') {
  const edge = createEdge();
  const records = Array.from({ length: size }, (_, at) => leafHash(Buffer.from(at === 0 ? first : String(at))));
  const leaves = records.map(leafHash);
  for (const leaf of leaves) edge.append(leaf);
  const note = writeCheckpoint({ origin, size, root: edge.root() }, key);
  return { records, note, tree: createTree(async () => Buffer.concat(leaves)) };
}

const answers = new Map<string, unknown>();
const { env } = withAnswers((request) => answers.get(request));
let cwd = '';
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'capstan-log-'));
  await writeFile(join(cwd, 'old'), logOf(3).note);
  await writeFile(join(cwd, 'not-one'), 'hello\n');
});
const capstan = (...args: string[]) => run(['log', ...args], { env, cwd });
const toTexts = (hashes: readonly Buffer[]) => hashes.map((hash) => hash.toString('base64'));

describe('log checkpoint', () => {
  it('prints the signed note unchanged', async () => {
    const { note } = logOf(7);
    answers.set('GET /v1/log/checkpoint', note);
    expect(await capstan('checkpoint', '--signed-by', signed_by)).toMatchObject({ code: 0, stdout: note, stderr: '' });
  });

  it('refuses a note signed by another key', async () => {
    const other = verifierKey(origin, parseSealKey(Buffer.alloc(32, 8).toString('base64')));
    expect(await capstan('checkpoint', '--signed-by', other)).toMatchObject({ code: 2, stdout: '' });
  });

  it('reports that it is not signed', async () => {
    answers.set('GET /v1/log/checkpoint', logOf(7).note.replace(/— .*\n/, ''));
    expect((await capstan('checkpoint')).stderr).toContain('not signed');
  });
});

describe('log prove', () => {
  const prove = async (record_hash: Buffer | undefined) => {
    const { note, tree } = logOf(7);
    answers.set('GET /v1/log/proofs/inv_1', {
      ...{ id: 'inv_1', log_index: 2, record_hash: `sha256:${record_hash?.toString('hex')}`, leaf_hash: 'sha256:00' },
      ...{ proof: toTexts(await tree.inclusionProof(2, 7)), checkpoint: { note, key: signed_by } },
    });
    return capstan('prove', 'inv_1');
  };

  it('computes the path to the root itself', async () => {
    const { code, stdout } = await prove(logOf(7).records[2]);
    expect(code).toBe(0);
    expect(stdout).toContain('inv_1 is entry 2 of 7');
    expect(stdout).toContain(`signed by ${signed_by}`);
  });

  it('fails if the record is not at the index that the gateway claims', async () => {
    expect(await prove(logOf(7).records[3])).toMatchObject({ code: 1 });
  });
});

describe('log consistency', () => {
  const against = async (now: ReturnType<typeof logOf>) => {
    answers.set('GET /v1/log/checkpoint', now.note);
    answers.set('GET /v1/log/consistency?from=3&to=7', {
      from: 3,
      to: 7,
      proof: toTexts(await now.tree.consistencyProof(3, 7)),
    });
    return capstan('consistency', 'old');
  };

  it('checks that the newest checkpoint extends an earlier one', async () => {
    const { code, stdout } = await against(logOf(7));
    expect(code).toBe(0);
    expect(stdout).toContain('the log of 7 entries begins with that of 3');
  });

  it('reports a log that was rewritten', async () => {
    const { code, stdout } = await against(logOf(7, 'another'));
    expect(code).toBe(1);
    expect(stdout).toContain('rewritten');
  });

  it('reports a log that was truncated', async () => {
    answers.set('GET /v1/log/checkpoint', logOf(2).note);
    expect(await capstan('consistency', 'old')).toMatchObject({ code: 1 });
  });

  it.each(['not-one', 'missing'])('refuses the file %s as a checkpoint', async (file) => {
    expect(await capstan('consistency', file)).toMatchObject({ code: 2 });
  });
});
