import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Store } from '../open-store.js';
import { deleteLines } from './delete-lines.js';
import { countByTenant, ofEndedCalls } from './ended-calls.js';
import { RetentionWalk } from './walk.js';

/**
 * Removes payloads, log lines and artifact names of calls that ended long ago; artifact contents are deleted once no name refers to them.
 * The hash of each payload stays, so the sealed record can still be verified. Results that an active run may still read are kept until
 * it ends.
 */
export const resultsWalk = (): RetentionWalk =>
  new RetentionWalk(
    ofEndedCalls({
      agesOf: ({ results }) => results,
      isThere: sql`e.removed_at IS NULL AND e.success IS NOT NULL`,
      isFree: sql`NOT EXISTS (SELECT FROM runs WHERE runs.run_id = i.run_id AND runs.finished_at IS NULL)`,
      async remove(db, due, rules) {
        const ids = due.map(({ invocation_id }) => invocation_id);
        await sql`UPDATE results SET payload = NULL, removed_at = now() WHERE invocation_id = ANY (${ids})`.execute(db);
        await deleteLines(db, due, rules);
        await sql`DELETE FROM artifact_names WHERE invocation_id = ANY (${ids})`.execute(db);
        await appendAudit(
          db,
          [...countByTenant(due)].map(([tenant, count]) => ({
            ...{ tenant, actor: 'system', event: 'retention.results', subject: tenant, detail: { count } },
          })),
        );
      },
    }),
  );

/** Whether retention has removed results of this run. */
export async function hasRemovedResults({ db }: Store, run_id: string): Promise<boolean> {
  const { rows } = await sql<{ removed: boolean }>`
    SELECT EXISTS (SELECT FROM invocations i JOIN results r ON r.invocation_id = i.invocation_id
      WHERE i.run_id = ${run_id} AND r.removed_at IS NOT NULL) AS removed`.execute(db);
  return rows[0]?.removed === true;
}
