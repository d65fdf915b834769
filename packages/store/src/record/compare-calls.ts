import { type Page, type Principal, RECORDED_LABEL } from '@capstan/contracts';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Db, Store } from '../open-store.js';
import { type PageWanted, pageOf, withoutSeq } from '../page-of.js';

/** Records that a run repeats the calls of another. */
export async function linkReplay(store: Store, by: Principal, run_id: string, replay_of: string): Promise<void> {
  await store.db.transaction().execute(async (db) => {
    // If it has ended already, the log gets another entry for it.
    await db.updateTable('runs').set({ replay_of }).where('run_id', '=', run_id).execute();
    await appendAudit(db, [
      { tenant: by.tenant, actor: by.actor, event: 'run.re_execute', subject: run_id, detail: { replay_of } },
    ]);
  });
}

export type ComparedCall = {
  invocation_id: string;
  recorded_invocation_id: string;
  tool_id: string;
  status: string;
  recorded_output_hash: string | null;
  output_hash: string | null;
  recorded: unknown;
  now: unknown;
};

/** Compares the calls of a run with those on record. Outputs are included only where they differ. */
export async function compareCalls(
  db: Db,
  tenant: string,
  run_id: string,
  { limit, cursor }: PageWanted,
): Promise<Page<ComparedCall>> {
  const after = /^\d{1,18}$/.test(cursor ?? '') ? cursor : '0';
  const { rows } = await sql<ComparedCall & { seq: string }>`
    SELECT i.seq, i.invocation_id, o.invocation_id AS recorded_invocation_id, i.tool_id, i.status,
      was.output_hash AS recorded_output_hash, is_now.output_hash,
      CASE WHEN was.output_hash IS DISTINCT FROM is_now.output_hash THEN was.payload END AS recorded,
      CASE WHEN was.output_hash IS DISTINCT FROM is_now.output_hash THEN is_now.payload END AS now
    FROM invocation_states i JOIN invocations o ON o.invocation_id = i.labels ->> ${RECORDED_LABEL} AND o.tenant = i.tenant
      LEFT JOIN results was ON was.invocation_id = o.invocation_id
      LEFT JOIN results is_now ON is_now.invocation_id = i.invocation_id
    WHERE i.tenant = ${tenant} AND i.run_id = ${run_id} AND i.seq > ${after} ORDER BY i.seq LIMIT ${limit + 1}`.execute(
    db,
  );
  return pageOf(rows, limit, withoutSeq);
}
