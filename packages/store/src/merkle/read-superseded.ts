import type { SupersededEntry } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Db } from '../open-store.js';
import { chainHash, findLogEntries } from './find-log-entries.js';

const MAX_SUPERSEDED = 1000;

/** The entries of a run that newer ones have superseded. An end that was replaced before it was logged has no entry. */
export async function readSuperseded(db: Db, tenant: string, run_id: string): Promise<SupersededEntry[]> {
  const { rows } = await sql<{ seq: string; id: string; reason: string; at: string }>`
    SELECT seq, id, reason, at FROM log_superseded WHERE run_id = ${run_id} AND tenant = ${tenant}
    ORDER BY seq LIMIT ${MAX_SUPERSEDED}`.execute(db);
  const entries = await findLogEntries(
    db,
    tenant,
    rows.map(({ seq }) => seq),
  );
  return rows.flatMap(({ seq, id, reason, at }) => {
    const entry = entries.get(seq);
    return entry ? [{ id, log_index: entry.index, leaf_hash: chainHash(entry), superseded_at: at, reason }] : [];
  });
}
