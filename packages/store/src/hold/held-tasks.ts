import type { Json, JsonObject, Role, TerminalStatus } from '@capstan/contracts';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Readied } from '../claim/readied.js';
import type { Store } from '../open-store.js';
import { notifyHold } from './notify-hold.js';
import { requeue } from './questions.js';
import { lockHold } from './read-holds.js';

/** A call whose task continues on a server while the call is, or was, held for an answer. */
export type HeldTask = {
  invocation_id: string;
  attempt: number;
  tenant: string;
  actor: string;
  roles: Role[];
  tool_id: string;
  descriptor_hash: string;
  policy_hash: string;
  inputs: JsonObject;
  input_hash: string;
  mode: 'execution' | 'planning';
  labels: Record<string, string>;
  spec_frozen: boolean | null;
  spec_hash: string | null;
  session_id: string | null;
  timeout_ms: number;
  /** The checkpoint of its last attempt. */
  state: Json;
  hold_id: string;
  round: number;
  /** Whether it is waiting for an answer now. */
  asks: boolean;
  /** How the call ended; null while it has not. */
  ended: TerminalStatus | null;
};

/** The longer a task has waited, the less often it is checked: after a twentieth of its age, but at least every minute. */
const MAX_LOOK_MS = 60_000;

/** Takes the tasks that are due for a check. No other process gets them before their next check is due. */
export async function takeHeldTasks(store: Store, limit: number): Promise<HeldTask[]> {
  const { rows } = await sql<HeldTask>`
    WITH due AS MATERIALIZED (
      SELECT invocation_id FROM checkpoints WHERE look_at <= now() ORDER BY look_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ), taken AS (
      UPDATE checkpoints c SET look_at = now() + interval '1 millisecond'
        * least(${MAX_LOOK_MS}, greatest(c.look_ms, extract(epoch FROM now() - c.created_at) * 50))
      FROM due WHERE c.invocation_id = due.invocation_id RETURNING c.invocation_id, c.state
    )
    SELECT i.invocation_id, s.attempt, i.tenant, i.actor, i.roles, i.tool_id, i.descriptor_hash, i.policy_hash, i.inputs,
      i.input_hash, i.mode, i.labels, i.spec_frozen, i.spec_hash, i.session_id, i.timeout_ms, t.state, h.hold_id, h.round,
      s.status = 'held' AND h.status = 'pending' AND h.question IS NOT NULL AS asks, r.status AS ended
    FROM taken t JOIN invocations i ON i.invocation_id = t.invocation_id
      JOIN invocation_states s ON s.invocation_id = t.invocation_id
      JOIN holds h ON h.invocation_id = t.invocation_id
      LEFT JOIN results r ON r.invocation_id = t.invocation_id`.execute(store.db);
  return rows;
}

/** Milliseconds until the next check is due; null if there is none. */
export async function nextHeldTask({ db }: Store): Promise<number | null> {
  const { rows } = await sql<{ in_ms: number | null }>`
    SELECT extract(epoch FROM min(look_at) - now())::float8 * 1000 AS in_ms FROM checkpoints WHERE look_at IS NOT NULL`.execute(
    db,
  );
  return rows[0]?.in_ms ?? null;
}

/** Stops the checks of a call that has ended. */
export async function forgetHeldTask({ db }: Store, invocation_id: string): Promise<void> {
  await db.updateTable('checkpoints').set({ look_at: null }).where('invocation_id', '=', invocation_id).execute();
}

/**
 * Closes the question of a task that continued without an answer, and requeues the call. An approval that the call had is valid
 * again. Null if the question was answered or closed in the meantime.
 */
export async function withdrawQuestion(
  store: Store,
  { tenant, hold_id, round }: Pick<HeldTask, 'tenant' | 'hold_id' | 'round'>,
  why: string,
): Promise<Readied | null> {
  return store.db.transaction().execute(async (db) => {
    const hold = await lockHold(db, tenant, hold_id);
    if (!hold?.question || hold.status !== 'pending' || hold.round !== round || hold.live) return null;
    await sql`INSERT INTO hold_entries (hold_id, actor, kind, round, comment)
      VALUES (${hold_id}, 'system', 'withdraw', ${round}, ${why})`.execute(db);
    await appendAudit(db, [
      { tenant, actor: 'system', event: 'hold.withdraw', subject: hold_id, detail: { comment: why } },
    ]);
    const { rows } = await sql<{ status: string; expires_at: string; decided_by: string }>`
      UPDATE holds SET status = CASE WHEN approved_before IS NULL THEN 'withdrawn' ELSE 'released' END, answers = NULL,
        decided_at = now(), decided_by = 'system', approved_input_hash = approved_before ->> 'input_hash',
        approved_descriptor_hash = approved_before ->> 'descriptor_hash',
        approved_policy_hash = approved_before ->> 'policy_hash'
      WHERE hold_id = ${hold_id} RETURNING status, expires_at, decided_by`.execute(db);
    const [closed] = rows;
    if (closed) await notifyHold(db, 'hold.decided', [{ ...hold, ...closed, comment: why }]);
    return requeue(db, hold.invocation_id);
  });
}
