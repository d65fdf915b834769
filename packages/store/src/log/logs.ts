import type { LogStream } from '@capstan/contracts';
import type { Db, Statement, Store } from '../open-store.js';

export type LogLine = { invocation_id: string; attempt: number; seq: number; stream: LogStream; text: string };

const APPEND: Statement = {
  name: 'append-logs',
  text: `INSERT INTO logs (invocation_id, attempt, seq, stream, text)
    SELECT invocation_id, attempt, seq, stream, text
    FROM json_to_recordset($1::json) AS line (invocation_id text, attempt int, seq int, stream text, text text)
    ON CONFLICT DO NOTHING`,
};

export const appendLogs = (store: Store, lines: LogLine[]) => store.query(APPEND, [JSON.stringify(lines)]);

/**
 * Lines of an invocation after (attempt, seq), in order; none after retention has removed its result. DISTINCT, because a worker
 * that got no response writes its lines again, and around midnight the second copy goes to the partition of the next day.
 */
export const readLogs = (db: Db, invocation_id: string, after: { attempt: number; seq: number }, limit = 1000) =>
  db
    .selectFrom('logs')
    .distinctOn(['attempt', 'seq'])
    .select(['attempt', 'seq', 'stream', 'text'])
    .where('invocation_id', '=', invocation_id)
    .where((eb) => eb(eb.refTuple('attempt', 'seq'), '>', eb.tuple(after.attempt, after.seq)))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('results')
            .select('results.seq')
            .where('results.invocation_id', '=', invocation_id)
            .where('removed_at', 'is not', null),
        ),
      ),
    )
    .orderBy('attempt')
    .orderBy('seq')
    .limit(limit)
    .execute();
