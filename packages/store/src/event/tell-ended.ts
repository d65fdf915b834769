import {
  type EventType,
  isTerminal,
  type Json,
  type JsonObject,
  loneRunId,
  type TerminalStatus,
} from '@capstan/contracts';
import { sql } from 'kysely';
import type { Db, Store } from '../open-store.js';
import { type NewEvent, recordEvents } from './record-events.js';

type Ended = {
  invocation_id: string;
  tenant: string;
  actor: string;
  run_id: string | null;
  tool_id: string;
  status: string;
  attempt: number;
  labels: JsonObject;
  session_id: string | null;
  webhook_url: string | null;
  created_at: string;
  finished_at: string;
  /** The rule of a denial, without its reason, which may quote the inputs. */
  decision: Json;
  result: Json;
  size: number;
};

type EndedRun = {
  run_id: string;
  tenant: string;
  status: 'completed' | 'failed' | 'canceled';
  total: number;
  failed: number;
};

/**
 * Records an event for each watched invocation that has ended, exactly once: the row in `ends_to_tell` is deleted in the transaction that
 * writes the event. A result larger than `max_bytes` is left out; the event then says where to find it.
 */
export async function tellEnded(store: Store, limit: number, max_bytes: number): Promise<number> {
  return store.db.transaction().execute(async (db) => {
    const { rows } = await sql<Ended>`
      WITH ended AS (
        SELECT invocation_id FROM ends_to_tell LIMIT ${limit} FOR UPDATE SKIP LOCKED
      ), told AS (
        DELETE FROM ends_to_tell WHERE invocation_id = ANY (ARRAY (SELECT invocation_id FROM ended)) RETURNING invocation_id
      )
      SELECT i.invocation_id, i.tenant, i.actor, i.run_id, i.tool_id, r.status, r.attempt, i.labels, i.session_id,
        i.webhook_url, i.created_at, r.finished_at, CASE WHEN r.status = 'denied' THEN json_build_object(
          'effect', 'deny', 'code', i.decision ->> 'code', 'rule_matched', i.decision ->> 'rule_matched') END AS decision,
        coalesce(octet_length(r.payload::text), 0) AS size,
        CASE WHEN r.success IS NOT NULL THEN json_build_object('success', r.success,
          'payload', CASE WHEN octet_length(r.payload::text) <= ${max_bytes}::int THEN r.payload END, 'error', r.error,
          'code', r.code, 'artifacts', r.artifacts, 'duration_ms', r.duration_ms, 'exit_code', r.exit_code,
          'truncated', r.truncated, 'input_hash', r.input_hash, 'output_hash', r.output_hash) END AS result
      FROM told JOIN invocations i ON i.invocation_id = told.invocation_id JOIN results r ON r.invocation_id = told.invocation_id
      ORDER BY r.finished_at`.execute(db);
    const runs = await endedBulks(db, rows);
    await recordEvents(db, [...rows.flatMap((row) => toEvent(row, max_bytes)), ...runs.map(runEvent)]);
    return rows.length;
  });
}

/** A bulk submission ends with the last of its calls. */
async function endedBulks(db: Db, rows: Ended[]): Promise<EndedRun[]> {
  const run_ids = [...new Set(rows.flatMap(({ run_id }) => run_id ?? []))];
  if (run_ids.length === 0) return [];
  const { rows: runs } = await sql<EndedRun>`
    SELECT run_id, tenant, total_steps AS total, failed_steps + denied_steps AS failed,
      CASE WHEN canceled_steps > 0 THEN 'canceled' WHEN failed_steps + denied_steps > 0 THEN 'failed' ELSE 'completed' END AS status
    FROM runs WHERE run_id = ANY (${run_ids}) AND kind = 'bulk' AND live_steps = 0`.execute(db);
  return runs;
}

const runEvent = ({ run_id, tenant, status, total, failed }: EndedRun): NewEvent => ({
  event_id: `${run_id}.${status}`,
  tenant,
  type: `run.${status}`,
  subject: run_id,
  data: { run_id, kind: 'bulk', status, total_steps: total, failed_steps: failed },
});

function toEvent(row: Ended, max_bytes: number): NewEvent[] {
  const { invocation_id, tenant, status, attempt, webhook_url, size, result, decision, run_id, ...rest } = row;
  if (!isEnd(status)) return [];
  const type: EventType = `invocation.${status}`;
  return [
    {
      // Lets receivers recognize duplicates. A redriven call ends again with another attempt, and so with another id.
      event_id: `${invocation_id}.${attempt}.${status}`,
      tenant,
      type,
      subject: invocation_id,
      url: webhook_url,
      data: {
        invocation_id,
        run_id: run_id ?? loneRunId(invocation_id),
        status,
        attempt,
        ...rest,
        ...(decision === null ? {} : { decision }),
        result,
        ...(size > max_bytes ? { result_omitted: true, result_path: `/v1/invocations/${invocation_id}` } : {}),
      },
    },
  ];
}

const isEnd = (status: string): status is TerminalStatus => isTerminal(status as TerminalStatus);
