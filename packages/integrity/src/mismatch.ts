import { CanonicalJsonError } from './canonical-json.js';
import { hashJson } from './hash-json.js';

/** Where what is stored is not what it should be. */
export type Mismatch = {
  table: string;
  row: string;
  field: string;
  stored: unknown;
  computed: unknown;
  why: string;
};

/** What retention removed; its hash is still there, and verified. */
export type Removal = { table: 'results'; row: string; field: 'payload'; removed_at: string };

export type Document = { hash: string; value: unknown };

/** The hashes of policies and descriptors that records name. */
export type UsedDocuments = { policies: Set<string>; descriptors: Set<string> };

/** Documents are named by their hash, so that is all there is to check about them. */
export function* checkDocuments(
  used: ReadonlySet<string>,
  table: 'policies' | 'descriptors',
  field: string,
  documents: readonly Document[],
): Generator<Mismatch> {
  const found = new Set<string>();
  for (const { hash, value } of documents) {
    found.add(hash);
    const computed = hashOf(value);
    if (computed !== hash)
      yield { table, row: hash, field, stored: hash, computed, why: 'it is not the document of that hash' };
  }
  for (const hash of used)
    if (!found.has(hash))
      yield { table, row: hash, field: 'row', stored: null, computed: hash, why: 'the document is gone' };
}

export function hashOf(value: unknown): string {
  try {
    return hashJson(value);
  } catch (error) {
    if (error instanceof CanonicalJsonError) return `none: ${error.message}`;
    throw error;
  }
}

const MAX_SHOWN = 200;
/** A value as it is where it is short; the beginning of its text where it is not. */
export const shown = (value: unknown): unknown => {
  const text = JSON.stringify(value) ?? 'null';
  return text.length <= MAX_SHOWN ? (value ?? null) : `${text.slice(0, MAX_SHOWN).toWellFormed()}…`;
};
