import { canonicalJson } from './canonical-json.js';
import type { Entry } from './record.js';
import type { Seal } from './seal.js';
import { createVerifier, type Document, type Link, type Mismatch, type Removal, removalsOf } from './verify-record.js';

export const BUNDLE_VERSION = '1.0';

/** The lines of a bundle, in this order: one header, documents, records in the order of the chain, one seal. */
export type BundleLine =
  | { line: 'header'; capstan_bundle: string; run_id: string; kind: string; count: number }
  | ({ line: 'policy' } & Document)
  | ({ line: 'descriptor' } & Document)
  | ({ line: 'record'; tables: Entry['tables'] } & Link)
  | ({ line: 'seal' } & Seal);

export type BundleVerdict = {
  ok: boolean;
  run_id: string | null;
  checked: number;
  mismatches: Mismatch[];
  more: number;
  removed: Removal[];
  removed_more: number;
  signed_by: string | null;
};

/** Canonical, so that the same run gives the same bytes wherever and whenever it is bundled. */
export const writeBundleLine = (line: BundleLine): string => `${canonicalJson(line)}\n`;

export class BundleError extends Error {
  override readonly name = 'BundleError';
}

const KINDS: ReadonlySet<unknown> = new Set(['header', 'policy', 'descriptor', 'record', 'seal']);

export function readBundleLine(text: string, number: number): BundleLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new BundleError(`line ${number} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isLine(value)) throw new BundleError(`line ${number} is no line of a bundle`);
  if (number === 1 && (value.line !== 'header' || value.capstan_bundle !== BUNDLE_VERSION))
    throw new BundleError(`this is not a bundle of version ${BUNDLE_VERSION}`);
  return value;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const NEEDED: Record<BundleLine['line'], Record<string, 'string' | 'number' | 'object'>> = {
  header: { capstan_bundle: 'string', run_id: 'string', kind: 'string', count: 'number' },
  policy: { hash: 'string' },
  descriptor: { hash: 'string' },
  record: {
    place: 'number',
    kind: 'string',
    id: 'string',
    record_hash: 'string',
    chain_hash: 'string',
    digests: 'object',
    tables: 'object',
  },
  seal: { run_id: 'string', root: 'string', count: 'number', seal_hash: 'string' },
};
function isLine(value: unknown): value is BundleLine {
  if (!isObject(value) || !KINDS.has(value.line)) return false;
  const needed = Object.entries(NEEDED).find(([line]) => line === value.line)?.[1] ?? {};
  if (!Object.entries(needed).every(([field, type]) => typeof value[field] === type && value[field] !== null))
    return false;
  return value.line !== 'record' || areRows(value.tables);
}
const areRows = (tables: unknown): boolean =>
  isObject(tables) && Object.values(tables).every((rows) => Array.isArray(rows) && rows.every(isObject));

const MAX_MISMATCHES = 1000;

/** Checks a bundle by itself, line by line. */
export async function verifyBundle(
  lines: AsyncIterable<string> | Iterable<string>,
  onLine: (line: BundleLine, checked: number) => void | Promise<void> = () => {},
): Promise<BundleVerdict> {
  const verdict: BundleVerdict = {
    ok: true,
    run_id: null,
    checked: 0,
    mismatches: [],
    more: 0,
    removed: [],
    removed_more: 0,
    signed_by: null,
  };
  const documents: { policies: Document[]; descriptors: Document[] } = { policies: [], descriptors: [] };
  const note = (found: Iterable<Mismatch>) => {
    for (const one of found) {
      verdict.ok = false;
      if (verdict.mismatches.length < MAX_MISMATCHES) verdict.mismatches.push(one);
      else verdict.more += 1;
    }
  };
  let verifier: ReturnType<typeof createVerifier> | null = null;
  let sealed = false;
  let number = 0;
  for await (const text of lines) {
    if (text === '') continue;
    number += 1;
    const line = readBundleLine(text, number);
    if (sealed) throw new BundleError(`line ${number} comes after the seal`);
    if (line.line === 'header') {
      if (verifier) throw new BundleError(`line ${number} is a second header`);
      verdict.run_id = line.run_id;
      verifier = createVerifier(line.run_id);
    } else if (line.line === 'policy') documents.policies.push({ hash: line.hash, value: line.value });
    else if (line.line === 'descriptor') documents.descriptors.push({ hash: line.hash, value: line.value });
    else if (line.line === 'record') {
      const entry = { kind: line.kind, id: line.id, tables: line.tables };
      note(verifier?.check(line, entry) ?? []);
      for (const one of removalsOf(entry))
        if (verdict.removed.length < MAX_MISMATCHES) verdict.removed.push(one);
        else verdict.removed_more += 1;
      verdict.checked += 1;
    } else {
      sealed = true;
      note(verifier?.checkSeal(line) ?? []);
      verdict.signed_by = line.key_id;
    }
    await onLine(line, verdict.checked);
  }
  if (!verifier) throw new BundleError('it is empty');
  if (!sealed) throw new BundleError('it has no seal: the file was cut off');
  note(verifier.checkDocuments('policies', 'document', documents.policies));
  note(verifier.checkDocuments('descriptors', 'descriptor', documents.descriptors));
  return verdict;
}
