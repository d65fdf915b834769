import type { Json, TerminalStatus } from '@capstan/contracts';
import type { Query, Statement } from '../open-store.js';
import { invocationIdOf, TERMINAL, UNRESOLVED, wholeSteps } from './step-sql.js';

export type StepKey = { run_id: string; step: number; element: number };
export type EndedRow = StepKey & { status: TerminalStatus | 'skipped' };
/** `error` of one that did not succeed. */
export type EndedCall = EndedRow & { error: string | null };
export type ReadyStep = StepKey & { item: Json };
/**
 * An ending that was heard of; `seq` is that of the change within its run. One that `waits` goes on only when it is known what
 * became of it. `dependents` are the steps that need it.
 */
export type HeardEnding = StepKey & {
  invocation_id: string;
  seq: number;
  waits: boolean;
  dependents: readonly number[];
};

/**
 * Takes over how invocations ended, and counts them off where they are needed. A step is ended once, however often its end
 * is heard of; one that waits to be resolved is told of once, and stays started. One statement, because the pace of a plan is
 * that of its turns. What needs a step travels with it: joined to it here, each ending was compared with all that is needed.
 * For `element` see wholeSteps. What becomes ready is told and not written, as long as it is no more than $9: it starts next, which
 * is written as well. Where it does not, it is for `keepReady`.
 */
const END: Statement = {
  name: 'end-steps',
  text: `
    WITH told AS (
      UPDATE steps s SET seq = h.seq, status = CASE WHEN h.waits AND ${UNRESOLVED} THEN s.status ELSE i.status END,
        reason = CASE WHEN h.waits AND ${UNRESOLVED} THEN $8 END
      FROM unnest($1::text[], $2::int[], $3::int[], $4::int[], $5::text[], $6::boolean[], $7::text[])
          AS h (run_id, step, element, seq, invocation_id, waits, dependents)
        JOIN invocations i ON i.invocation_id = h.invocation_id
      WHERE s.run_id = h.run_id AND s.step = h.step AND s.element = h.element AND s.status = 'started'
        AND i.status IN ${TERMINAL} AND (s.reason IS NULL OR NOT (h.waits AND ${UNRESOLVED}))
      RETURNING s.run_id, s.step, s.element, s.status, h.invocation_id, h.dependents
    ), ended AS (
      SELECT * FROM told WHERE status <> 'started'
    ), needed AS (
      SELECT run_id, dependent, -1 AS element, count(*)::int AS met FROM ended, unnest(dependents::int[]) AS dependent GROUP BY 1, 2
    ), counted AS (
      SELECT n.*, s.unmet = n.met AS ready, row_number() OVER (PARTITION BY s.unmet = n.met ORDER BY n.run_id, n.dependent) AS place
      FROM needed n JOIN steps s
        ON s.run_id = n.run_id AND s.step = n.dependent AND s.element = n.element AND s.status = 'pending'
    ), met AS (
      UPDATE steps s SET unmet = s.unmet - c.met FROM counted c
      WHERE s.run_id = c.run_id AND s.step = c.dependent AND s.element = c.element AND (NOT c.ready OR c.place > $9)
    )
    SELECT run_id, step, element, status, CASE WHEN status <> 'succeeded' THEN (
      SELECT left(error, 500) FROM results r WHERE r.invocation_id = ended.invocation_id) END AS error FROM ended
    UNION ALL
    SELECT run_id, dependent, element, CASE WHEN place > $9 THEN 'left' ELSE 'ready' END, NULL FROM counted WHERE ready
    ORDER BY 1, 2, 3`,
};

type Row = StepKey & { status: EndedRow['status'] | 'ready' | 'left'; error: string | null };
const TO_RESOLVE = 'nobody knows whether it took effect; resolve it, or redrive it';

/** `ready` are at most so many; `left` are the runs in which more than these has become so. */
export async function endSteps(
  query: Query,
  heard: readonly HeardEnding[],
  most: number,
): Promise<{ ended: EndedCall[]; ready: ReadyStep[]; left: string[] }> {
  const rows =
    heard.length === 0
      ? []
      : await query<Row>(END, [
          heard.map((one) => one.run_id),
          heard.map((one) => one.step),
          heard.map((one) => one.element),
          heard.map((one) => one.seq),
          heard.map((one) => one.invocation_id),
          heard.map((one) => one.waits),
          heard.map(({ dependents }) => `{${dependents.join()}}`),
          TO_RESOLVE,
          most,
        ]);
  const ended: EndedCall[] = [];
  const ready: ReadyStep[] = [];
  const left = new Set<string>();
  for (const { status, error, ...key } of rows)
    if (status === 'left') left.add(key.run_id);
    else if (status === 'ready') ready.push({ ...key, item: null });
    else ended.push({ ...key, status, error });
  return { ended, ready, left: [...left] };
}

const KEEP_READY: Statement = {
  name: 'keep-ready',
  text: `
    UPDATE steps s SET unmet = 0
    FROM ${wholeSteps('unnest($1::text[], $2::int[]) AS r (run_id, step)')} r
    WHERE s.run_id = r.run_id AND s.step = r.step AND s.element = r.element AND s.status = 'pending'`,
};

/** For those that do not start within the transaction in which they became ready. */
export async function keepReady(query: Query, steps: readonly ReadyStep[]): Promise<void> {
  if (steps.length > 0) await query(KEEP_READY, [steps.map((one) => one.run_id), steps.map((one) => one.step)]);
}

type Missed = StepKey & { invocation_id: string };

const MISSED: Statement = {
  name: 'find-missed-endings',
  text: `
    SELECT s.run_id, s.step, s.element, i.invocation_id
    FROM steps s JOIN invocations i ON i.invocation_id = ${invocationIdOf('s')}
    WHERE s.run_id = ANY ($1) AND s.status = 'started' AND s.elements IS NULL AND i.status IN ${TERMINAL}
    ORDER BY s.run_id, s.step, s.element LIMIT $2`,
};

/** Ends that no signal told of, and those that wait to be resolved. */
export const findMissedEndings = async (query: Query, run_ids: readonly string[], limit: number): Promise<Missed[]> =>
  run_ids.length === 0 ? [] : query<Missed>(MISSED, [run_ids, limit]);

export type EndedElements = { run_id: string; step: number; ended: number; unsuccessful: number };

const END_ELEMENTS: Statement = {
  name: 'end-elements',
  text: `
    WITH counted AS (
      UPDATE steps s SET unended = s.unended - c.ended, unsuccessful = s.unsuccessful + c.unsuccessful,
        status = CASE WHEN s.unended > c.ended THEN s.status
          WHEN s.unsuccessful + c.unsuccessful = 0 THEN 'succeeded' ELSE 'failed' END
      FROM ${wholeSteps('unnest($1::text[], $2::int[], $3::int[], $4::int[]) AS c (run_id, step, ended, unsuccessful)')} c
      WHERE s.run_id = c.run_id AND s.step = c.step AND s.element = c.element AND s.status = 'started'
      RETURNING s.run_id, s.step, s.element, s.status, s.unended
    ) SELECT run_id, step, element, status FROM counted WHERE unended = 0`,
};

/** Counts elements off; with the last one their step has ended. */
export const endElements = async (query: Query, counts: readonly EndedElements[]): Promise<EndedRow[]> =>
  counts.length === 0
    ? []
    : query<EndedRow>(END_ELEMENTS, [
        counts.map((one) => one.run_id),
        counts.map((one) => one.step),
        counts.map((one) => one.ended),
        counts.map((one) => one.unsuccessful),
      ]);

export type MetNeeds = { run_id: string; step: number; met: number };

const MEET: Statement = {
  name: 'meet-needs',
  text: `
    UPDATE steps s SET unmet = s.unmet - m.met
    FROM ${wholeSteps('unnest($1::text[], $2::int[], $3::int[]) AS m (run_id, step, met)')} m
    WHERE s.run_id = m.run_id AND s.step = m.step AND s.element = m.element AND s.status = 'pending'`,
};

export async function meetNeeds(query: Query, met: readonly MetNeeds[]): Promise<void> {
  if (met.length > 0)
    await query(MEET, [met.map((one) => one.run_id), met.map((one) => one.step), met.map((one) => one.met)]);
}

export type Dropped = { run_id: string; step: number; of_elements: boolean; count: number };
export type ToDrop = { run_id: string; status: 'skipped' | 'canceled'; reason: string; seq: number };

const DROP: Statement = {
  name: 'drop-pending',
  text: `
    WITH pending AS (
      SELECT s.run_id, s.step, s.element, d.status, d.reason,
        d.seq + row_number() OVER (PARTITION BY s.run_id ORDER BY s.step, s.element) AS seq
      FROM unnest($1::text[], $2::text[], $3::text[], $4::int[]) AS d (run_id, status, reason, seq)
        JOIN steps s ON s.run_id = d.run_id AND s.status = 'pending'
    ), dropped AS (
      UPDATE steps s SET status = p.status, reason = p.reason, seq = p.seq FROM pending p
      WHERE s.run_id = p.run_id AND s.step = p.step AND s.element = p.element
      RETURNING s.run_id, s.step, s.element
    )
    SELECT run_id, step, element >= 0 AS of_elements, count(*)::int AS count FROM dropped GROUP BY 1, 2, 3`,
};

/** All that has not been started will not be. */
export const dropPending = async (query: Query, runs: readonly ToDrop[]): Promise<Dropped[]> =>
  runs.length === 0
    ? []
    : query<Dropped>(DROP, [
        runs.map((one) => one.run_id),
        runs.map((one) => one.status),
        runs.map((one) => one.reason),
        runs.map((one) => one.seq),
      ]);
