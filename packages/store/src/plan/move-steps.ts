import type { Json } from '@capstan/contracts';
import type { Query, Statement } from '../open-store.js';
import { wholeSteps } from './step-sql.js';
import type { StepKey } from './step-states.js';
import type { StepTable } from './tables.js';

/** The names of a step, for the row that it gets when it first moves. */
export type Titled = Pick<StepTable, 'step_id' | 'name' | 'tool_id'>;

/** The start or the end of a step. */
export type StepMove = StepKey &
  Titled & {
    status: StepTable['status'];
    has_invocation: boolean;
    reason: string | null;
    seq: number;
  };

/** Writes step moves ($1 to $10); also the first part of the statement that ends a turn. */
export const MOVE = `
  INSERT INTO steps AS s (run_id, step, element, step_id, name, tool_id, status, has_invocation, reason, seq)
  SELECT * FROM unnest($1::text[], $2::int[], $3::int[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[],
    $9::text[], $10::int[])
  ON CONFLICT (run_id, step, element) DO UPDATE
    SET status = excluded.status, has_invocation = excluded.has_invocation, reason = excluded.reason, seq = excluded.seq
    WHERE s.status IN ('pending', 'started')`;

export const moveValues = (moves: readonly StepMove[]): unknown[] => [
  moves.map((one) => one.run_id),
  moves.map((one) => one.step),
  moves.map((one) => one.element),
  moves.map((one) => one.step_id),
  moves.map((one) => one.name),
  moves.map((one) => one.tool_id),
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
      INSERT INTO steps AS s (run_id, step, step_id, name, tool_id, status, elements, unended, unsuccessful, seq)
      VALUES ($1, $2, $3, $4, $5, 'started', cardinality($7::text[]), cardinality($7::text[]), 0, $6)
      ON CONFLICT (run_id, step, element) DO UPDATE
        SET status = excluded.status, elements = excluded.elements, unended = excluded.unended, unsuccessful = 0, seq = excluded.seq
        WHERE s.status = 'pending'
      RETURNING s.step
    )
    INSERT INTO steps (run_id, step, element, step_id, name, tool_id, status, item)
    SELECT $1, f.step, i.place - 1, $3, $4, $5, 'pending', i.item::json
    FROM fanned f, unnest($7::text[]) WITH ORDINALITY AS i (item, place)`,
};

/** Inserts a row for each element; the step waits for all of them. Elements are sent as text, in which \u0000 is allowed. */
export async function fanOutStep(
  query: Query,
  { run_id, step, step_id, name, tool_id, seq }: Titled & { run_id: string; step: number; seq: number },
  items: readonly Json[],
): Promise<void> {
  const texts = items.map((item) => JSON.stringify(item));
  await query(FAN_OUT, [run_id, step, step_id, name, tool_id, seq, texts]);
}

export type EndedFan = {
  run_id: string;
  step: number;
  status: 'succeeded' | 'failed';
  unsuccessful: number;
  seq: number;
};

const END_FANS: Statement = {
  name: 'end-fans',
  text: `
    UPDATE steps s SET status = f.status, unended = 0, unsuccessful = f.unsuccessful, seq = f.seq
    FROM ${wholeSteps(`unnest($1::text[], $2::int[], $3::text[], $4::int[], $5::int[])
      AS f (run_id, step, status, unsuccessful, seq)`)} f
    WHERE s.run_id = f.run_id AND s.step = f.step AND s.element = f.element AND s.status = 'started'`,
};

/** Ends fanned-out steps whose last element has ended. */
export async function endFans(query: Query, fans: readonly EndedFan[]): Promise<void> {
  if (fans.length === 0) return;
  await query(END_FANS, [
    fans.map((one) => one.run_id),
    fans.map((one) => one.step),
    fans.map((one) => one.status),
    fans.map((one) => one.unsuccessful),
    fans.map((one) => one.seq),
  ]);
}

const ITEMS: Statement = {
  name: 'read-items',
  text: `
    SELECT s.run_id, s.step, s.element, s.item
    FROM unnest($1::text[], $2::int[], $3::int[]) AS e (run_id, step, element)
      JOIN steps s ON s.run_id = e.run_id AND s.step = e.step AND s.element = e.element`,
};

export type Item = StepKey & { item: Json };

export const readItems = async (query: Query, elements: readonly StepKey[]): Promise<Item[]> =>
  elements.length === 0
    ? []
    : query<Item>(ITEMS, [
        elements.map((one) => one.run_id),
        elements.map((one) => one.step),
        elements.map((one) => one.element),
      ]);
