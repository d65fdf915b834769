import type { Json } from '@capstan/contracts';
import type { Query, Statement } from '../open-store.js';
import type { StepKey } from './end-steps.js';
import type { StepTable } from './tables.js';

/** What became of a step that was ready. */
export type StepMove = StepKey & {
  status: StepTable['status'];
  has_invocation: boolean;
  reason: string | null;
  seq: number;
};

/** Moves $1 to $7 of it; also as the first part of the statement that ends a turn. */
export const MOVE = `
  UPDATE steps s SET status = m.status, has_invocation = m.has_invocation, reason = m.reason, seq = m.seq
  FROM unnest($1::text[], $2::int[], $3::int[], $4::text[], $5::boolean[], $6::text[], $7::int[])
    AS m (run_id, step, element, status, has_invocation, reason, seq)
  WHERE s.run_id = m.run_id AND s.step = m.step AND s.element = m.element AND s.status = 'pending'`;

export const moveValues = (moves: readonly StepMove[]): unknown[] => [
  moves.map((one) => one.run_id),
  moves.map((one) => one.step),
  moves.map((one) => one.element),
  moves.map((one) => one.status),
  moves.map((one) => one.has_invocation),
  moves.map((one) => one.reason),
  moves.map((one) => one.seq),
];

const MOVE_STEPS: Statement = { name: 'move-steps', text: MOVE };

export async function moveSteps(query: Query, moves: readonly StepMove[]): Promise<void> {
  if (moves.length > 0) await query(MOVE_STEPS, moveValues(moves));
}

const FAN_OUT: Statement = {
  name: 'fan-out-step',
  text: `
    WITH fanned AS (
      UPDATE steps SET status = 'started', elements = cardinality($3::text[]), unended = cardinality($3::text[]),
        unsuccessful = 0
      WHERE run_id = $1 AND step = $2 AND element = -1 AND status = 'pending'
      RETURNING step_id, name, tool_id
    )
    INSERT INTO steps (run_id, step, element, step_id, name, tool_id, status, unmet, item)
    SELECT $1, $2, i.place - 1, f.step_id, f.name, f.tool_id, 'pending', 0, i.item::json
    FROM fanned f, unnest($3::text[]) WITH ORDINALITY AS i (item, place)`,
};

/** A row for each element; the step itself waits for all of them. Elements travel as texts, which may hold \u0000. */
export async function fanOutStep(query: Query, { run_id, step }: StepKey, items: readonly Json[]): Promise<void> {
  await query(FAN_OUT, [run_id, step, items.map((item) => JSON.stringify(item))]);
}
