import { canonicalJson } from './canonical-json.js';
import { hashText } from './hash-json.js';
import { columnsOf, type Entry, type Row } from './record.js';

/** Short digests of every field, by table and row. They only locate a change; the hash of the record proves that there is one. */
export type FieldDigests = Record<string, string[]>;

export type SealedEntry = { record_hash: string; digests: FieldDigests };

/** Computes the hash of a record, and the digests that later locate a changed field. */
export function sealEntry({ kind, id, tables }: Entry): SealedEntry {
  const digests: FieldDigests = {};
  let text = `{"id":${canonicalJson(id)},"kind":${canonicalJson(kind)},"tables":{`;
  let comma = '';
  for (const table of Object.keys(tables).sort()) {
    const of_rows: string[] = [];
    let rows = '';
    for (const row of tables[table] ?? []) {
      const sealed = sealRow(layoutOf(table), row);
      of_rows.push(sealed.digests);
      rows += rows === '' ? sealed.text : `,${sealed.text}`;
    }
    digests[table] = of_rows;
    text += `${comma}${canonicalJson(table)}:[${rows}]`;
    comma = ',';
  }
  return { record_hash: hashText(`${text}}}`), digests };
}

/** The columns of a table, in the order of the digests and in that of canonical JSON. */
type Layout = { columns: readonly string[]; sorted: { place: number; key: string }[] };

const layouts = new Map<string, Layout>();
function layoutOf(table: string): Layout {
  const known = layouts.get(table);
  if (known) return known;
  const columns = columnsOf(table);
  const sorted = columns
    .map((name, place) => ({ name, place, key: `${canonicalJson(name)}:` }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const layout = { columns, sorted };
  layouts.set(table, layout);
  return layout;
}

const DIGEST = 4;
const NONE = '.'.repeat(DIGEST);

/** Writes each value once, for the hash and for its digest. This is the most expensive part of sealing an invocation. */
function sealRow({ columns, sorted }: Layout, row: Row): { text: string; digests: string } {
  const texts: (string | null)[] = [];
  let digests = '';
  for (const field of columns) {
    const value = row[field];
    const text = value === null || value === undefined ? null : canonicalJson(value);
    texts.push(text);
    digests += text === null ? NONE : digestOf(typeof value === 'string' ? value : text);
  }
  let members = '';
  for (const { place, key } of sorted) {
    const text = texts[place];
    if (typeof text === 'string') members += members === '' ? key + text : `,${key}${text}`;
  }
  return { text: `{${members}}`, digests };
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const PAIRS = [...DIGITS].flatMap((high) => [...DIGITS].map((low) => high + low));

/** A 24-bit digest that only locates a field: of a string itself, of other values the canonical JSON. */
function digestOf(text: string): string {
  const bits = text.length > MAX_FNV ? Number.parseInt(hashText(text).slice(-6), 16) : fnv(text);
  return `${PAIRS[bits >>> 12]}${PAIRS[bits & 0xfff]}`;
}

const MAX_FNV = 512;

/** FNV-1a costs a tenth of SHA-256 on short texts, and most fields are short. */
function fnv(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 8) ^ (hash & 0xff);
}

export type FieldChange = { table: string; row: number; field: string };

/** Returns the fields that differ from the sealed ones. An added or missing row is reported as the field `row`. */
export function changedFields(digests: FieldDigests, sealed: FieldDigests): FieldChange[] {
  const changes: FieldChange[] = [];
  for (const table of new Set([...Object.keys(digests), ...Object.keys(sealed)])) {
    const now = digests[table] ?? [];
    const then = sealed[table] ?? [];
    for (let row = 0; row < Math.max(now.length, then.length); row++) {
      const [is, was] = [now[row], then[row]];
      if (is === was) continue;
      if (is === undefined || was === undefined) changes.push({ table, row, field: 'row' });
      else
        columnsOf(table).forEach((field, at) => {
          const place = at * DIGEST;
          if (is.slice(place, place + DIGEST) !== (was.slice(place, place + DIGEST) || NONE))
            changes.push({ table, row, field });
        });
    }
  }
  return changes;
}
