import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import { COUNTS_TODAY, deleteCalls, deleteSeals, isLogged } from './delete-calls.js';
import { deleteLines } from './delete-lines.js';
import { countByTenant, ofEndedCalls } from './ended-calls.js';
import { RetentionWalk } from './walk.js';

/** Deletes old lone calls with everything that belongs to them. Nothing is deleted before it is in the log, which contains only hashes. */
export const recordsWalk = (): RetentionWalk =>
  new RetentionWalk(
    ofEndedCalls({
      agesOf: ({ records }) => records,
      isThere: sql`i.run_id IS NULL`,
      isFree: sql`(NOT ${COUNTS_TODAY} AND ${isLogged(sql`e.xid`, sql`e.seq`)})`,
      async remove(db, due, rules) {
        const ids = due.map(({ invocation_id }) => invocation_id);
        await deleteLines(db, due, rules);
        await deleteCalls(db, ids);
        await deleteSeals(
          db,
          ids.map((id) => id.replace(/^inv_/, 'run_')),
        );
        await appendAudit(
          db,
          [...countByTenant(due)].map(([tenant, count]) => ({
            ...{ tenant, actor: 'system', event: 'retention.records', subject: tenant, detail: { count } },
          })),
        );
      },
    }),
  );
