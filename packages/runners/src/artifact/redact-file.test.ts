import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRedactor } from '@capstan/redact';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { redactedContent } from './redact-file.js';

const SECRET = 'hunter2-of-the-tenant';
const redact = createRedactor({ values: [SECRET] });

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'redact-file-'));
});
afterAll(() => rm(directory, { recursive: true }));

const bytes = (content: Buffer): string => content.toString('latin1');
/** Byte by byte, as a text: whole buffers are slow to compare. */
const kept = async (content: Uint8Array): Promise<string> => {
  const path = join(directory, 'file');
  await writeFile(path, content);
  const file = await open(path);
  const chunks: Uint8Array[] = [];
  for await (const chunk of await redactedContent(file, redact)) chunks.push(chunk);
  await file.close();
  return bytes(Buffer.concat(chunks));
};

/** Longer than what is read at once, so that the secret lies across. */
const filler = 'ü'.repeat(65_530);

test.each([
  ['UTF-8', 'utf8', `\ufeff${filler}`],
  ['UTF-16', 'utf16le', `\ufeff${filler}`],
  ['a text with a byte that is no UTF-8', 'latin1', filler],
] as const)('a secret is redacted from %s, and the rest stays unchanged', async (_, encoding, before) => {
  const file = Buffer.from(`${before}${SECRET}.`, encoding);
  expect(await kept(file)).toBe(bytes(Buffer.from(`${before}[REDACTED].`, encoding)));
});

test('a secret is redacted from a file with null characters, as plain text and in UTF-16', async () => {
  const head = [0x89, 0x50, 0x4e, 0x47, 0, 0xff];
  const archive = Buffer.from([...head, ...Buffer.from(SECRET), 0, 0xfe]);
  expect(await kept(archive)).toBe(bytes(Buffer.from([...head, ...Buffer.from('[REDACTED]'), 0, 0xfe])));
  const wide = Buffer.from([...head, ...Buffer.from(SECRET, 'utf16le'), 0xfe]);
  expect(await kept(wide)).toBe(bytes(Buffer.from([...head, ...Buffer.from('[REDACTED]'), 0, 0xfe])));
});

test('a file without secrets stays unchanged', async () => {
  const image = Buffer.from(Array.from({ length: 70_000 }, (_, at) => (at * 7919) % 256));
  expect(await kept(image)).toBe(bytes(image));
  const odd = Buffer.from([0xff, 0xfe, 0, 1, 2]);
  expect(await kept(odd)).toBe(bytes(odd));
});
