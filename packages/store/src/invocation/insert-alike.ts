import { intArray, textArray } from '../binary-array.js';
import type { Statement, Store } from '../open-store.js';
import { notify } from '../signal/channel.js';
import type { HandOver, Inserted, NewInvocation, NewRun, Together } from './insert-invocations.js';
import { turnStands } from './turn-stands.js';

/** Columns that differ for each call, and columns that calls waiting only for a worker do not have. */
type OfEach = 'invocation_id' | 'inputs' | 'input_hash' | 'traceparent';
type OfNone = 'idempotency_key' | 'status' | 'run_at' | 'delay_ms' | 'expires_in_ms' | 'quota_scopes' | 'cost_units';

/** The columns that calls of one kind share, and their types. */
const SHARED = {
  tenant: 'text',
  actor: 'text',
  roles: 'text[]',
  run_id: 'text',
  tool_id: 'text',
  runner: 'text',
  descriptor_hash: 'text',
  policy_hash: 'text',
  decision: 'json',
  mode: 'text',
  session_id: 'text',
  idempotent: 'boolean',
  spec_frozen: 'boolean',
  spec_hash: 'text',
  priority: 'int',
  timeout_ms: 'int',
  max_attempts: 'int',
  webhook_url: 'text',
  labels: 'jsonb',
  retry_backoff_ms: 'int',
  watched: 'boolean',
} as const satisfies Record<Exclude<keyof NewInvocation, OfEach | OfNone>, string>;
const FIRST_SHARED = 14;
const parameters = Object.entries(SHARED).map(([column, type], at) => [column, `$${FIRST_SHARED + at}::${type}`]);
const shared = Object.fromEntries(parameters);
const LAST_SHARED = FIRST_SHARED + parameters.length - 1;

/** Parts of a batch besides calls for workers. */
type Extras = { waiting: boolean; run: boolean; turn: boolean };

/**
 * The fast path for most batches: similar calls that are all queued. It omits every case that the general statement handles
 * (known keys, denials, holds) and takes half the time. If a worker is gone, a queue is paused or a plan run has moved on, it
 * fails with a division by zero; an existing call violates the primary key. Then nothing is written, and the caller falls back
 * to the general statement.
 *
 * $1 ids, $2 inputs and $3 their hashes, calls on receipts first; $4 receipts, $5 their workers, $6 whether they are owned, $7
 * and $8 the places of their first and last calls in $1; $9 the number of distinct workers; $10 subjects and $11 details of audit
 * events; $12 signals; $13 the spans that submitted the calls; then the columns of SHARED; then, for a turn, its plan runs and
 * their expected `seq`.
 */
const insertion = ({ waiting, run, turn }: Extras): Statement => ({
  name: ['insert-invocations-alike', waiting && 'waiting', run && 'run', turn && 'turn'].filter(Boolean).join('-'),
  text: `
    WITH inserted AS (
      INSERT INTO invocations (invocation_id, inputs, input_hash, traceparent, admitted, ${Object.keys(SHARED).join(', ')})
      SELECT row.invocation_id, row.inputs::json, row.input_hash, row.traceparent, 'queued', ${parameters.map(([, value]) => value).join(', ')}
      FROM unnest($1::text[], $2::text[], $3::text[], $13::text[]) AS row (invocation_id, inputs, input_hash, traceparent)
      ${waiting ? 'RETURNING invocation_id, seq' : ''}
    ), handed AS (
      INSERT INTO claims (claim_id, runner, worker_id, owned_at, ids, attempts, first_attempts)
      SELECT h.claim_id, ${shared.runner}, h.worker_id, CASE WHEN h.owned = 1 THEN now() END, ($1::text[])[h.first:h.last],
        array_fill(1, ARRAY[h.last - h.first + 1]), array_fill(1, ARRAY[h.last - h.first + 1])
      FROM unnest($4::text[], $5::text[], $6::int[], $7::int[], $8::int[]) AS h (claim_id, worker_id, owned, first, last)
    ), ${waiting ? WAITING : ''}${run ? RUN : ''} audited AS (
      INSERT INTO audit (tenant, actor, event, subject, detail)
      SELECT ${shared.tenant}, ${shared.actor}, 'invocation.submit', e.subject, e.detail::json
      FROM unnest($10::text[], $11::text[]) AS e (subject, detail)
    )
    SELECT now() AS created_at, (SELECT count(${notify('signal')}) FROM unnest($12::text[]) AS signal) AS told,
      1 / (cardinality($4::text[]) = 0 OR (
        NOT EXISTS (SELECT FROM queues q WHERE q.runner = ${shared.runner} AND q.paused)
        AND (SELECT count(*) FROM workers w
          WHERE w.worker_id = ANY ($5::text[]) AND w.lease_until > now() AND NOT w.draining) = $9::int))::int AS handed
      ${turn ? `, 1 / (${turnStands(`$${LAST_SHARED + 1}`, `$${LAST_SHARED + 2}`)})::int AS of_turn` : ''}`,
});

const WAITING = `waiting AS (
      INSERT INTO work (invocation_id, seq, tenant, runner, priority, status)
      SELECT invocation_id, seq, ${shared.tenant}, ${shared.runner}, ${shared.priority}, 'queued' FROM inserted
      WHERE (invocation_id IN (SELECT unnest(($1::text[])[1:(SELECT max(last) FROM unnest($8::int[]) AS last)]))) IS NOT TRUE
    ), `;
const RUN = `grouped AS (
      INSERT INTO runs (run_id, tenant, actor, kind, total_steps, live_steps)
      VALUES (${shared.run_id}, ${shared.tenant}, ${shared.actor}, 'bulk', cardinality($1::text[]), cardinality($1::text[]))
    ), `;

/** Statement texts are cached: building one costs more than looking it up. */
const statements = new Map<string, Statement>();
function statementFor(extras: Extras): Statement {
  const key = `${extras.waiting} ${extras.run} ${extras.turn}`;
  const statement = statements.get(key) ?? insertion(extras);
  statements.set(key, statement);
  return statement;
}

const REFUSED: ReadonlySet<unknown> = new Set(['22012', '23505']);

/** Null if the fast path did not apply; then nothing was written. All `rows` are queued and similar. */
export async function insertAlike(
  store: Pick<Store, 'query'>,
  rows: readonly NewInvocation[],
  { hand_over = [], signals = [], run = null, turn = null }: Together,
): Promise<Inserted | null> {
  const [first] = rows;
  if (!first || (run !== null && !isOf(run, first))) return null;
  const ordered = byReceipt(rows, hand_over);
  const lasts = endsOf(hand_over);
  const events = eventsOf(rows, first);
  const workers = hand_over.map(({ worker_id }) => worker_id);
  const values = [
    textArray(ordered.map(({ invocation_id }) => invocation_id)),
    textArray(ordered.map(({ inputs }) => JSON.stringify(inputs))),
    textArray(ordered.map(({ input_hash }) => input_hash)),
    textArray(hand_over.map(({ claim_id }) => claim_id)),
    textArray(workers),
    intArray(hand_over.map(({ owned }) => Number(owned))),
    intArray(hand_over.map((receipt, at) => (lasts[at] ?? 0) - receipt.ids.length + 1)),
    intArray(lasts),
    new Set(workers.filter((worker) => worker !== null)).size,
    textArray(events.map(({ subject }) => subject)),
    textArray(events.map(({ detail }) => detail)),
    textArray([...hand_over.flatMap((receipt) => receipt.signals ?? []), ...signals]),
    textArray(ordered.map(({ traceparent }) => traceparent)),
    ...sharedValues(first),
    ...(turn ? [turn.map(({ run_id }) => run_id), turn.map(({ seq }) => seq)] : []),
  ];
  const waiting = (lasts.at(-1) ?? 0) < rows.length;
  try {
    const statement = statementFor({ waiting, run: run !== null, turn: turn !== null });
    const [answer] = await store.query<{ created_at: string }>(statement, values);
    if (!answer) throw new Error(`${statement.name} answered no row`);
    const handed = hand_over.map(({ claim_id }) => claim_id);
    return { created_at: answer.created_at, inserted: rows.length, handed };
  } catch (error) {
    if (error instanceof Error && 'code' in error && REFUSED.has(error.code)) return null;
    throw error;
  }
}

const isOf = (run: NewRun, { run_id, tenant, actor }: NewInvocation): boolean =>
  run.run_id === run_id && run.tenant === tenant && run.actor === actor;

/** Calls on receipts first, receipt by receipt. */
function byReceipt(rows: readonly NewInvocation[], hand_over: readonly HandOver[]): readonly NewInvocation[] {
  if (hand_over.length === 0) return rows;
  const left = new Map(rows.map((row) => [row.invocation_id, row]));
  const handed: NewInvocation[] = [];
  for (const { ids } of hand_over)
    for (const id of ids) {
      const row = left.get(id);
      if (!row) throw new Error(`${id} is on a receipt and not among the calls`);
      left.delete(id);
      handed.push(row);
    }
  return [...handed, ...left.values()];
}

/** The place of the last call of each receipt. */
function endsOf(hand_over: readonly HandOver[]): number[] {
  let last = 0;
  return hand_over.map(({ ids }) => {
    last += ids.length;
    return last;
  });
}

/** The most calls in one audit event, as in `submissionEvents`. */
const MAX_CALLS = 500;

/** The same events as `submissionEvents`. Ids and hashes need no JSON escaping. */
function eventsOf(rows: readonly NewInvocation[], { run_id, tool_id }: NewInvocation) {
  const events: { subject: string; detail: string }[] = [];
  for (let from = 0; from < rows.length; from += MAX_CALLS) {
    const calls = rows.slice(from, from + MAX_CALLS);
    const hashes = calls.map(({ invocation_id, input_hash }) => `"${invocation_id}":"${input_hash}"`);
    const detail = `{"calls":{${JSON.stringify(tool_id)}:{${hashes.join()}}}}`;
    events.push({ subject: run_id ?? calls[0]?.invocation_id ?? '', detail });
  }
  return events;
}

/** In the order of SHARED. */
const sharedValues = (row: NewInvocation): unknown[] => [
  row.tenant,
  row.actor,
  textArray(row.roles),
  row.run_id,
  row.tool_id,
  row.runner,
  row.descriptor_hash,
  row.policy_hash,
  JSON.stringify(row.decision),
  row.mode,
  row.session_id,
  row.idempotent,
  row.spec_frozen,
  row.spec_hash,
  row.priority,
  row.timeout_ms,
  row.max_attempts,
  row.webhook_url,
  JSON.stringify(row.labels),
  row.retry_backoff_ms ?? null,
  row.watched || row.webhook_url !== null ? true : null,
];
