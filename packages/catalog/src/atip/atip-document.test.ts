import { existsSync, readFileSync } from 'node:fs';
import type { JsonObject } from '@capstan/contracts';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { expect, test } from 'vitest';
import { AtipDocument } from './atip-document.js';

/** Beside the repository, where the corpora are; the tests are skipped where they are not. */
const schema = new URL('../../../../../shared/corpora/atip/0.6.json', import.meta.url);
const isThere = existsSync(schema);
const official = isThere
  ? addFormats.default(new Ajv({ strict: false })).compile(JSON.parse(readFileSync(schema, 'utf8')))
  : () => true;

test.skipIf(!isThere).each<[string, JsonObject]>([
  ['no name', { name: '' }],
  ['a name that is no executable', { name: 'a/b' }],
  ['another version', { atip: '0.7' }],
  ['a version as a text', { atip: '0.3' }],
  ['an unknown feature', { atip: { version: '0.6', features: ['x'] } }],
  ['a long description', { description: 'x'.repeat(201) }],
  ['emoji up to the limit', { description: '🙂'.repeat(200) }],
  ['an unknown source of trust', { trust: { source: 'me' } }],
  ['a trust block without a source', { trust: {} }],
  ['a command without a description', { commands: { a: {} } }],
  ['an argument without a type', { commands: { a: { description: '', arguments: [{ name: 'x', description: '' }] } } }],
  ['a flag without a dash', { globalOptions: [{ name: 'x', flags: ['x'], type: 'string', description: '' }] }],
  ['no flags', { globalOptions: [{ name: 'x', flags: [], type: 'string', description: '' }] }],
  ['a member for a vendor', { 'x-vendor': 1 }],
  ['a member nobody knows', { whatever: 1 }],
  ['effects that are no booleans', { effects: { network: 'yes' } }],
  ['a timeout', { effects: { duration: { timeout: '5m' } } }],
  ['a timeout in days', { effects: { duration: { timeout: '5d' } } }],
  ['a level of SLSA that is not there', { trust: { provenance: { slsaLevel: 5 } } }],
  ['a homepage that is no URL', { homepage: 'nowhere' }],
  ['a pattern without steps', { patterns: [{ name: 'a', description: 'b' }] }],
  ['commands in commands', { commands: { a: { description: '', commands: { b: { description: 3 } } } } }],
])('our schema and the official one agree on %s', (_, over) => {
  const sent = { atip: { version: '0.6' }, name: 'box', version: '1', description: 'Keeps things', ...over };
  expect(AtipDocument.safeParse(sent).success).toBe(official(sent));
});
