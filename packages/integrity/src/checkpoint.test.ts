import { expect, test } from 'vitest';
import { CheckpointError, isSignedBy, logOrigin, parseCheckpoint, verifierKey, writeCheckpoint } from './checkpoint.js';
import { EMPTY_ROOT } from './merkle-tree.js';
import { parseSealKey } from './seal.js';
import { parseTilePath, tilePath } from './tile-path.js';

const key = parseSealKey(Buffer.alloc(32, 7).toString('base64'));
const origin = logOrigin('0d4b', 'a+b c');
const checkpoint = { origin, size: 12, root: EMPTY_ROOT };

test('a signed checkpoint can be parsed and its signature verified', () => {
  const note = writeCheckpoint(checkpoint, key);
  const read = parseCheckpoint(note);
  expect(read).toMatchObject(checkpoint);
  expect(isSignedBy(read, verifierKey(origin, key))).toBe(true);
  expect(isSignedBy(parseCheckpoint(note.replace('\n12\n', '\n13\n')), verifierKey(origin, key))).toBe(false);
  const other = parseSealKey(Buffer.alloc(32, 8).toString('base64'));
  expect(isSignedBy(read, verifierKey(origin, other))).toBe(false);
  expect(isSignedBy(read, verifierKey('another', key))).toBe(false);
});

test('a checkpoint written without a key has no signature', () => {
  const read = parseCheckpoint(writeCheckpoint(checkpoint, null));
  expect(read).toMatchObject({ ...checkpoint, signatures: [] });
  expect(isSignedBy(read, verifierKey(origin, key))).toBe(false);
});

test('signatures are compatible with signed notes from other implementations', () => {
  const text = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
  const signed = Buffer.from(
    'x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=',
    'base64',
  );
  const signatures = [{ name: 'PeterNeumann', key_id: signed.subarray(0, 4), signature: signed.subarray(4) }];
  const peter = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
  expect(isSignedBy({ text, signatures }, peter)).toBe(true);
  expect(isSignedBy({ text: `${text}!`, signatures }, peter)).toBe(false);
});

test.each([
  ['no root', 'log\n1\n\n'],
  ['a size with a sign', `log\n-1\n${EMPTY_ROOT.toString('base64')}\n\n`],
  ['a short root', 'log\n1\nAAAA\n\n'],
  ['no empty line', `log\n1\n${EMPTY_ROOT.toString('base64')}\n`],
  ['a line that is not a signature', `log\n1\n${EMPTY_ROOT.toString('base64')}\n\nsigned, me\n`],
])('a checkpoint with %s is refused', (_, note) => {
  expect(() => parseCheckpoint(note)).toThrow(CheckpointError);
});

test.each(['me', 'me+00000000+AAAA', verifierKey('me', key).replace(/\+[0-9a-f]{8}\+/, '+00000000+')])(
  'the verifier key %s is refused',
  (wrong) => {
    expect(() => isSignedBy(parseCheckpoint(writeCheckpoint(checkpoint, key)), wrong)).toThrow('verifier key');
  },
);

test.each([
  [{ level: 0, index: 0, width: 256 }, 'tile/0/000'],
  [{ level: 1, index: 1234067, width: 256 }, 'tile/1/x001/x234/067'],
  [{ level: 'entries' as const, index: 5, width: 7 }, 'tile/entries/005.p/7'],
])('the tile %j has the path %s', (name, path) => {
  expect(tilePath(name)).toBe(path);
  expect(parseTilePath(path)).toEqual(name);
});

test.each(['tile/0/0', 'tile/0/x000/000', 'tile/6/000', 'tile/0/000.p/256', 'tile/0/000.p/08', 'tile/-1/000', ''])(
  '%j is not the path of a tile',
  (path) => {
    expect(parseTilePath(path)).toBeUndefined();
  },
);
