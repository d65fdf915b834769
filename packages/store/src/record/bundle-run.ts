import type { Run } from '@capstan/contracts';
import { BESIDE_LOG, type Document, LOG_COLUMNS, type LogRecord, writeBundleLine } from '@capstan/integrity';
import { sql } from 'kysely';
import { readDigests } from '../merkle/find-log-entries.js';
import { openTree, type StoredCheckpoint } from '../merkle/read-tiles.js';
import type { Store } from '../open-store.js';
import { readDescriptorDocuments, readPolicyDocuments } from './documents.js';
import { findEntriesOf, readLogRecords } from './verify-logged-run.js';

/** The lines of a run's bundle, page by page. The same record always gives the same bytes. */
export async function* bundleLoggedRun(
  store: Store,
  tenant: string,
  run: Pick<Run, 'run_id' | 'kind' | 'total_steps'>,
  { note, key, size }: StoredCheckpoint,
): AsyncGenerator<string> {
  const { run_id, kind } = run;
  const total = await countRecords(store, run);
  yield writeBundleLine({ line: 'header', capstan_bundle: '2.0', run_id, kind, count: total });
  yield writeBundleLine({ line: 'checkpoint', note, key });
  yield* bundleDocuments(store, run_id);
  const tree = openTree(store.db, tenant);
  let count = 0;
  for await (const records of readLogRecords(store, run)) {
    const logged = await findEntriesOf(store.db, tenant, records);
    const digests = await readDigests(
      store.db,
      tenant,
      logged.flatMap(({ entry }) => entry?.index ?? []),
    );
    let page = '';
    for (const { record, entry } of logged) {
      // A record that is not in the log cannot be proven. A reader notices that it is missing, because the run's own record lists it.
      if (!entry || entry.index >= size) continue;
      const proof = await tree.inclusionProof(entry.index, size);
      count += 1;
      page += writeBundleLine({
        ...{ line: 'entry', kind: record.kind, id: record.id, index: entry.index },
        record_hash: entry.record_hash.toString('base64'),
        digests: (digests.get(entry.index) ?? Buffer.alloc(0)).toString('base64'),
        proof: proof.map((hash) => hash.toString('base64')),
        tables: bundled(record),
      });
    }
    yield page;
  }
  yield writeBundleLine({ line: 'end', count });
}

/** The covered columns, and those that are checked against them. */
function bundled({ tables }: LogRecord): LogRecord['tables'] {
  const of: { -readonly [Table in keyof LogRecord['tables']]: LogRecord['tables'][Table] } = {};
  for (const table of Object.keys(tables).filter(isTable)) {
    const columns = [...LOG_COLUMNS[table], ...(BESIDE_LOG[table] ?? [])];
    of[table] = (tables[table] ?? []).map((row) =>
      Object.fromEntries(columns.map((column) => [column, row[column] ?? null])),
    );
  }
  return of;
}
const isTable = (table: string): table is keyof typeof LOG_COLUMNS => Object.hasOwn(LOG_COLUMNS, table);

async function countRecords({ db }: Store, { run_id, kind }: Pick<Run, 'run_id' | 'kind'>): Promise<number> {
  if (kind === 'lone') return 1;
  const { rows } = await sql<{ count: number }>`
    SELECT 1 + count(*)::int AS count FROM invocations WHERE run_id = ${run_id}`.execute(db);
  return rows[0]?.count ?? 1;
}

/** The policies and descriptors that its records refer to. */
export async function* bundleDocuments(store: Store, run_id: string): AsyncGenerator<string> {
  const used = await usedHashes(store, run_id);
  for (const one of once(await readPolicyDocuments(store.db, used.policies)))
    yield writeBundleLine({ line: 'policy', ...one });
  for (const one of once(await readDescriptorDocuments(store.db, used.descriptors)))
    yield writeBundleLine({ line: 'descriptor', ...one });
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
