import { canonicalJson } from './canonical-json.js';
import type { LogTable, TextRow } from './log-columns.js';
import type { Document, Mismatch, Removal } from './mismatch.js';
import type { Entry } from './record.js';
import type { Seal } from './seal.js';
import type { Link } from './verify-sealed-record.js';

/** Version 1.0 contains the run's own chain and seal, from before the log existed. It is still read, but no longer written. */
export const BUNDLE_VERSIONS = ['1.0', '2.0'] as const;
export type BundleVersion = (typeof BUNDLE_VERSIONS)[number];

export type HeaderLine = { line: 'header'; capstan_bundle: BundleVersion; run_id: string; kind: string; count: number };
export type DocumentLine = { line: 'policy' | 'descriptor' } & Document;
/** In version 1.0, in chain order. */
export type SealedLine = { line: 'record'; tables: Entry['tables'] } & Link;
export type SealLine = { line: 'seal' } & Seal;
/** In version 2.0. `key` is the verifier key of the checkpoint, or null if it is not signed. */
export type CheckpointLine = { line: 'checkpoint'; note: string; key: string | null };
/** Hashes and digests are base64. The proof leads to the root of the checkpoint. */
export type EntryLine = {
  line: 'entry';
  kind: 'run' | 'invocation';
  id: string;
  index: number;
  record_hash: string;
  digests: string;
  proof: string[];
  tables: Readonly<Partial<Record<LogTable, readonly TextRow[]>>>;
};
/** The last line of version 2.0. A file without it was cut off. */
export type EndLine = { line: 'end'; count: number };

/**
 * 1.0: header, documents, records, seal. 2.0: header, checkpoint, documents, entries (the run, then its calls in order of
 * submission), end.
 */
export type BundleLine = HeaderLine | DocumentLine | SealedLine | SealLine | CheckpointLine | EntryLine | EndLine;

/** Canonical, so that a run always gives the same bytes. */
export const writeBundleLine = (line: BundleLine): string => `${canonicalJson(line)}\n`;

export class BundleError extends Error {
  override readonly name = 'BundleError';
}

export function readBundleLine(text: string, number: number): BundleLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new BundleError(`line ${number} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isLine(value)) throw new BundleError(`line ${number} is not a bundle line`);
  if (number === 1 && (value.line !== 'header' || !BUNDLE_VERSIONS.includes(value.capstan_bundle)))
    throw new BundleError(`this is not a bundle of version ${BUNDLE_VERSIONS.join(' or ')}`);
  return value;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
type Needed = Record<string, 'string' | 'number' | 'object'>;
const NEEDED: Readonly<Record<BundleLine['line'], Needed>> = {
  header: { capstan_bundle: 'string', run_id: 'string', kind: 'string', count: 'number' },
  policy: { hash: 'string' },
  descriptor: { hash: 'string' },
  record: {
    ...{ place: 'number', kind: 'string', id: 'string', record_hash: 'string', chain_hash: 'string' },
    ...{ digests: 'object', tables: 'object' },
  },
  seal: { run_id: 'string', root: 'string', count: 'number', seal_hash: 'string' },
  checkpoint: { note: 'string' },
  entry: {
    ...{ kind: 'string', id: 'string', index: 'number', record_hash: 'string', digests: 'string' },
    ...{ proof: 'object', tables: 'object' },
  },
  end: { count: 'number' },
};

function isLine(value: unknown): value is BundleLine {
  if (!isObject(value)) return false;
  const needed = Object.entries(NEEDED).find(([line]) => line === value.line)?.[1];
  if (!needed) return false;
  if (!Object.entries(needed).every(([field, type]) => typeof value[field] === type && value[field] !== null))
    return false;
  if (value.line === 'record') return areRows(value.tables, () => true);
  if (value.line !== 'entry') return true;
  return (
    (value.kind === 'run' || value.kind === 'invocation') &&
    Array.isArray(value.proof) &&
    value.proof.every((hash) => typeof hash === 'string') &&
    areRows(value.tables, (cell) => cell === null || typeof cell === 'string')
  );
}

const areRows = (tables: unknown, isCell: (cell: unknown) => boolean): boolean =>
  isObject(tables) &&
  Object.values(tables).every(
    (rows) => Array.isArray(rows) && rows.every((row) => isObject(row) && Object.values(row).every(isCell)),
  );

/** Checks the lines of a bundle of one version. `end` returns the key that signed it. */
export type BundleCheck = {
  line(line: BundleLine, number: number): Iterable<Mismatch>;
  removals(line: BundleLine): Removal[];
  /** Throws if the file was cut off. */
  end(): { mismatches: Iterable<Mismatch>; signed_by: string | null; root: string | null };
};
