import {
  BUNDLE_VERSION,
  type Document,
  type Entry,
  readColumnsOf,
  type Seal,
  writeBundleLine,
} from '@capstan/integrity';
import { sql } from 'kysely';
import type { Store } from '../open-store.js';
import { readLinks } from '../seal/read-seal.js';
import { readDescriptorDocuments, readPolicyDocuments } from './documents.js';
import { type ReadEntry, readEntries } from './read-entries.js';

/** The lines of a run's bundle, page by page. The same bytes whenever it is asked for, while the seal is the same. */
export async function* bundleRun(store: Store, seal: Seal, kind: string): AsyncGenerator<string> {
  const { run_id, count } = seal;
  yield writeBundleLine({ line: 'header', capstan_bundle: BUNDLE_VERSION, run_id, kind, count });
  const used = await usedHashes(store, run_id);
  for (const one of once(await readPolicyDocuments(store.db, used.policies)))
    yield writeBundleLine({ line: 'policy', ...one });
  for (const one of once(await readDescriptorDocuments(store.db, used.descriptors)))
    yield writeBundleLine({ line: 'descriptor', ...one });
  for await (const links of readLinks(store, run_id)) {
    const entries = await readEntries(store.db, run_id, links);
    let page = '';
    links.forEach((link, at) => {
      page += writeBundleLine({ line: 'record', ...link, tables: coveredOf(entries[at]) });
    });
    yield page;
  }
  yield writeBundleLine({ line: 'seal', ...seal });
}

/** Rows as they are hashed: without what is of this installation alone. */
function coveredOf(entry: ReadEntry | undefined): Entry['tables'] {
  const tables = Object.entries(entry?.tables ?? {});
  return Object.fromEntries(
    tables.map(([table, rows]) => [
      table,
      rows.map((row) => Object.fromEntries(readColumnsOf(table).map((column) => [column, row[column]]))),
    ]),
  );
}

/** A policy may be in force under several names. */
function once(documents: Document[]): Document[] {
  return [...new Map(documents.map((one) => [one.hash, one])).values()];
}

async function usedHashes({ db }: Store, run_id: string): Promise<{ policies: string[]; descriptors: string[] }> {
  const { rows } = await sql<{ policies: string[]; descriptors: string[] }>`
    SELECT coalesce(array_agg(DISTINCT policy_hash), '{}') AS policies,
      coalesce(array_agg(DISTINCT descriptor_hash) FILTER (WHERE descriptor_hash IS NOT NULL), '{}') AS descriptors
    FROM (
      SELECT policy_hash, descriptor_hash FROM invocations WHERE run_id = ${run_id}
      UNION ALL
      SELECT policy_hash, descriptor_hash FROM invocations
      WHERE run_id IS NULL AND invocation_id = ${run_id.replace(/^run_/, 'inv_')}
      UNION ALL
      SELECT policy_hash, NULL FROM plan_runs WHERE run_id = ${run_id}
    ) AS used`.execute(db);
  return rows[0] ?? { policies: [], descriptors: [] };
}
