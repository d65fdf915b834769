import {
  checkDocuments,
  createVerifier,
  type Link,
  type Mismatch,
  type Removal,
  removalsOf,
  type Seal,
} from '@capstan/integrity';
import { sql } from 'kysely';
import type { Store } from '../open-store.js';
import { readLinks } from '../seal/read-seal.js';
import { readDescriptorDocuments, readPolicyDocuments } from './documents.js';
import { type ReadEntry, readEntries } from './read-entries.js';

export type VerifyStep = { checked: number; mismatches: Mismatch[]; removed: Removal[] };

/**
 * For a run that was sealed before the log existed: recomputes every hash from the stored rows, page by page. The last step verifies the run as a
 * whole.
 */
export async function* verifySealedRun(store: Store, seal: Seal): AsyncGenerator<VerifyStep> {
  const { run_id } = seal;
  const verifier = createVerifier(run_id);
  const order = { seq: 0n };
  for await (const links of readLinks(store, run_id)) {
    const entries = await readEntries(store.db, run_id, links);
    const mismatches = links.flatMap((link, at) => {
      const entry = entries[at];
      return [...verifier.check(link, entry), ...(entry ? checkPlace(link, entry, order) : [])];
    });
    yield { checked: links.length, mismatches, removed: entries.flatMap((entry) => (entry ? removalsOf(entry) : [])) };
  }
  const policies = await readPolicyDocuments(store.db, verifier.used.policies);
  const descriptors = await readDescriptorDocuments(store.db, verifier.used.descriptors);
  yield {
    checked: 0,
    removed: [],
    mismatches: [
      ...verifier.checkSeal(seal),
      ...checkDocuments(verifier.used.policies, 'policies', 'document', policies),
      ...checkDocuments(verifier.used.descriptors, 'descriptors', 'descriptor', descriptors),
      ...(await findAdded(store, run_id)),
    ],
  };
}

/** The chain has the order of submission, and the result names its link. */
function checkPlace(link: Link, entry: ReadEntry, order: { seq: bigint }): Mismatch[] {
  if (entry.seq === null) return [];
  const found: Mismatch[] = [];
  const seq = BigInt(entry.seq);
  if (seq <= order.seq)
    found.push({
      table: 'invocations',
      row: link.id,
      field: 'seq',
      stored: entry.seq,
      computed: `> ${order.seq}`,
      why: 'it is not in the order that was sealed',
    });
  else order.seq = seq;
  const named = (entry.tables.results ?? []).length > 0;
  if (named && entry.chain_hash !== link.chain_hash)
    found.push({
      table: 'results',
      row: link.id,
      field: 'chain_hash',
      stored: entry.chain_hash,
      computed: link.chain_hash,
      why: 'its link of the chain is another',
    });
  return found;
}

const MAX_ADDED = 100;

/** Rows that belong to the run but are not covered by its seal. */
async function findAdded({ db }: Store, run_id: string): Promise<Mismatch[]> {
  const { rows } = await sql<{ table: string; id: string }>`
    SELECT 'invocations' AS table, invocation_id AS id FROM invocations
    WHERE run_id = ${run_id} AND invocation_id NOT IN (SELECT id FROM seal_links WHERE run_id = ${run_id} AND kind = 'invocation')
    UNION ALL
    SELECT 'steps', step || '.' || element FROM steps
    WHERE run_id = ${run_id} AND step || '.' || element NOT IN (SELECT id FROM seal_links WHERE run_id = ${run_id} AND kind = 'step')
    LIMIT ${MAX_ADDED}`.execute(db);
  return rows.map(({ table, id }) => ({
    table,
    row: id,
    field: 'row',
    stored: 'a row',
    computed: null,
    why: 'it was added after the seal',
  }));
}
