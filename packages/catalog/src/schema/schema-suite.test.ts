import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Json } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { compileSchema } from './compile-schema.js';
import type { Schema } from './subschemas.js';

type Group = { description: string; schema: Schema; tests: { description: string; data: Json; valid: boolean }[] };

const archive = new URL('../../../../../shared/corpora/json-schema/draft2020-12.tar.gz', import.meta.url);
const isThere = existsSync(archive);
const BLOCK = 512;

/** Enough of tar: plain files with names of up to 255 characters. */
function* filesIn(tar: Buffer): Generator<[name: string, text: string]> {
  const field = (at: number, length: number) => tar.toString('latin1', at, at + length).split('\0', 1)[0] ?? '';
  for (let at = 0; at + BLOCK <= tar.length && field(at, 100) !== ''; ) {
    const size = Number.parseInt(field(at + 124, 12), 8);
    const name = [field(at + 345, 155), field(at, 100)].filter(Boolean).join('/');
    yield [name, tar.toString('utf8', at + BLOCK, at + BLOCK + size)];
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
}

const files = isThere ? [...filesIn(gunzipSync(readFileSync(archive)))] : [];
/** The suite says that these are served at this address. */
const remotes = new Map<string, Schema>(
  files.flatMap(([name, text]): [string, Schema][] => {
    const path = /^json-schema\/remotes\/((?!v1\/|draft(?!2020)).*\.json)$/.exec(name)?.[1];
    return path === undefined ? [] : [[`http://localhost:1234/${path}`, JSON.parse(text)]];
  }),
);
const mandatory = files.filter(([name]) => /^json-schema\/draft2020-12\/[^/]+\.json$/.test(name));

describe.skipIf(!isThere)('the official suite of JSON Schema 2020-12 (skipped where the corpora are not there)', () => {
  test.each(mandatory)('%s: every mandatory case', (_name, text) => {
    const groups: Group[] = JSON.parse(text);
    const wrong = groups.flatMap(({ description, schema, tests }) => {
      const validate = compileSchema(schema, remotes);
      return tests
        .filter(({ data, valid }) => (validate(data).length === 0) !== valid)
        .map((each) => `${description}: ${each.description}`);
    });
    expect(groups.length).toBeGreaterThan(0);
    expect(wrong).toEqual([]);
  });

  test('is there whole', () => {
    expect(mandatory.length).toBeGreaterThan(40);
  });
});
