import { type Answers, holdIdOf, type Principal, type Question, type QueueName } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import { type Readied, readied } from '../claim/readied.js';
import type { Db, Store } from '../open-store.js';
import { notifyHold } from './notify-hold.js';
import { type HeldCall, lockHold } from './read-holds.js';

/**
 * `partly`: some questions are still open · `answered`: by this request, with the calls that can run now · `decided`: the hold is
 * no longer pending.
 */
export type Answered =
  | { kind: 'partly' | 'decided' | 'missing' }
  | { kind: 'answered'; readied: Readied; invocation_id: string };

/** Stores answers to the questions of a hold. The last answer requeues the call. */
export async function answerHold(
  store: Store,
  by: Pick<Principal, 'tenant' | 'actor'>,
  hold_id: string,
  answers: Answers,
): Promise<Answered> {
  return store.db.transaction().execute(async (db) => {
    const hold = await lockHold(db, by.tenant, hold_id);
    if (!hold?.question) return { kind: 'missing' };
    if (hold.status !== 'pending') return { kind: 'decided' };
    const keys = Object.keys(hold.question.requests);
    const known = Object.entries(answers).filter(([key]) => keys.includes(key));
    const all: Answers = { ...hold.answers, ...Object.fromEntries(known) };
    await record(db, hold, by.actor, all, Object.keys(answers));
    if (keys.some((key) => !(key in all))) return { kind: 'partly' };
    return { kind: 'answered', readied: await goOn(db, hold, by.actor), invocation_id: hold.invocation_id };
  });
}

/**
 * Stores the answers with the hold. Its history and the audit say only which questions were answered and by whom, and the history
 * has the hash of all answers so far: the answers are data of the call, like its inputs.
 */
async function record(db: Db, hold: HeldCall, actor: string, answers: Answers, keys: string[]): Promise<void> {
  const { hold_id, round, tenant } = hold;
  await db
    .updateTable('holds')
    .set({ answers: JSON.stringify(answers) })
    .where('hold_id', '=', hold_id)
    .execute();
  await sql`INSERT INTO hold_entries (hold_id, actor, kind, round, changed, input_hash)
    VALUES (${hold_id}, ${actor}, 'answer', ${round}, ${keys}, ${hashJson(answers)})`.execute(db);
  await appendAudit(db, [{ tenant, actor, event: 'hold.answer', subject: hold_id, detail: { keys } }]);
}

/**
 * An answer is not an approval: the call keeps the approval that it had before the question, if any. Without one, the approved hash is
 * `none`, which matches no inputs, so a policy that now requires an approval still gets to ask for it.
 */
async function goOn(db: Db, hold: HeldCall, actor: string): Promise<Readied> {
  const { rows } = await sql<{ status: string; expires_at: string; decided_by: string }>`
    UPDATE holds SET status = 'released', decided_at = now(), decided_by = ${actor},
      approved_input_hash = coalesce(approved_before ->> 'input_hash', 'none'),
      approved_descriptor_hash = approved_before ->> 'descriptor_hash',
      approved_policy_hash = approved_before ->> 'policy_hash'
    WHERE hold_id = ${hold.hold_id} RETURNING status, expires_at, decided_by`.execute(db);
  const [released] = rows;
  if (released) await notifyHold(db, 'hold.decided', [{ ...hold, ...released, comment: null }]);
  return hold.live ? readied([]) : requeue(db, hold.invocation_id);
}

/** Queues a held call again, or defers it if it is under a quota. */
export async function requeue(db: Db, invocation_id: string): Promise<Readied> {
  const { rows } = await sql<{ runner: QueueName; status: string }>`
    UPDATE work SET status = CASE WHEN quota_scopes IS NOT NULL THEN 'deferred' ELSE 'queued' END
    WHERE invocation_id = ${invocation_id} AND status = 'held' RETURNING runner, status`.execute(db);
  const [work] = rows;
  if (!work) throw new Error(`${invocation_id} is not held, but its hold is pending`);
  return readied(work.status === 'queued' ? [{ invocation_id, runner: work.runner }] : []);
}

export type LiveQuestion = {
  invocation_id: string;
  tenant: string;
  actor: string;
  tool_id: string;
  question: Question;
  expires_in_ms: number;
};

/** Opens a hold for a question of a running attempt. Returns the round that the answer will belong to. */
export async function askLive(store: Store, asked: LiveQuestion): Promise<number> {
  const { invocation_id, tenant, actor, tool_id, question, expires_in_ms } = asked;
  const expires_at = sql`now() + ${expires_in_ms} * interval '1 millisecond'`;
  const { rows } = await sql<{ round: number }>`
    INSERT INTO holds (hold_id, invocation_id, tenant, actor, tool_id, question, live, expires_in_ms, expires_at)
    VALUES (${holdIdOf(invocation_id)}, ${invocation_id}, ${tenant}, ${actor}, ${tool_id}, ${JSON.stringify(question)},
      true, ${expires_in_ms}, ${expires_at})
    ON CONFLICT (invocation_id) DO UPDATE SET status = 'pending', round = holds.round + 1, question = EXCLUDED.question,
      answers = NULL, live = true,
      approved_before = CASE WHEN holds.question IS NULL AND holds.status = 'released' THEN json_build_object('input_hash',
        holds.approved_input_hash, 'descriptor_hash', holds.approved_descriptor_hash, 'policy_hash', holds.approved_policy_hash)
        ELSE holds.approved_before END,
      approved_input_hash = NULL, approved_descriptor_hash = NULL, approved_policy_hash = NULL, decided_at = NULL,
      decided_by = NULL, expires_at = EXCLUDED.expires_at
    RETURNING round`.execute(store.db);
  const [row] = rows;
  if (!row) throw new Error(`the question of ${invocation_id} was not written`);
  return row.round;
}

export type LiveAnswer = { kind: 'pending' } | { kind: 'answered'; answers: Answers } | { kind: 'closed' };

export async function readLiveAnswer(db: Db, invocation_id: string, round: number): Promise<LiveAnswer> {
  const row = await db
    .selectFrom('holds')
    .select(['status', 'round', 'answers'])
    .where('invocation_id', '=', invocation_id)
    .executeTakeFirst();
  if (!row || row.round !== round) return { kind: 'closed' };
  if (row.status === 'pending') return { kind: 'pending' };
  return row.status === 'released' ? { kind: 'answered', answers: row.answers ?? {} } : { kind: 'closed' };
}

/** The question that an earlier attempt asked, and its answers, for the attempt that continues. */
export async function readAnswers(db: Db, invocation_id: string): Promise<Answers | null> {
  const row = await db
    .selectFrom('holds')
    .select(['answers'])
    .where('invocation_id', '=', invocation_id)
    .where('status', '=', 'released')
    .where('question', 'is not', null)
    .executeTakeFirst();
  return row?.answers ?? null;
}

/** The answer is not awaited any more. An earlier approval of the call is restored. */
const END = sql`UPDATE holds SET status = CASE WHEN approved_before IS NULL THEN 'expired' ELSE 'released' END,
  decided_at = now(), decided_by = 'system', approved_input_hash = approved_before ->> 'input_hash',
  approved_descriptor_hash = approved_before ->> 'descriptor_hash', approved_policy_hash = approved_before ->> 'policy_hash'
  WHERE live AND status = 'pending'`;

/** Closes the question, together with the attempt that asked it. */
export async function endLiveQuestion(db: Db, invocation_id: string): Promise<void> {
  await sql`${END} AND invocation_id = ${invocation_id}`.execute(db);
}

/** Closes questions of attempts whose worker was lost. */
export async function endOverdueQuestions(store: Store): Promise<void> {
  await sql`${END} AND expires_at <= now()`.execute(store.db);
}
