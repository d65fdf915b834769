import { CanonicalJsonError } from './canonical-json.js';
import { hashJson } from './hash-json.js';

/** A stored value that differs from the expected one. */
export type Mismatch = {
  table: string;
  row: string;
  field: string;
  stored: unknown;
  computed: unknown;
  why: string;
};

/** A payload that retention removed. Its hash is kept and still verified. */
export type Removal = { table: 'results'; row: string; field: 'payload'; removed_at: string };

export type Document = { hash: string; value: unknown };

/** The hashes of the policies and descriptors that records refer to. */
export type UsedDocuments = { policies: Set<string>; descriptors: Set<string> };

/** Checks that each document matches its hash, and that every document in use is present. */
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
      yield { table, row: hash, field, stored: hash, computed, why: 'the document does not match its hash' };
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
/** Returns a short value unchanged, and a longer one as the beginning of its JSON text. */
export const shown = (value: unknown): unknown => {
  const text = JSON.stringify(value) ?? 'null';
  return text.length <= MAX_SHOWN ? (value ?? null) : `${text.slice(0, MAX_SHOWN).toWellFormed()}…`;
};
