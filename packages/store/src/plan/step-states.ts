import type { Query, Statement } from '../open-store.js';
import type { StepTable } from './tables.js';

export type StepKey = { run_id: string; step: number; element: number };
/** The state of a step. `elements`: their number if it is fanned out · `told`: whether it has a reason. */
export type StepState = StepKey & { status: StepTable['status']; elements: number | null; told: boolean };

const COLUMNS = 's.run_id, s.step, s.element, s.status, s.elements, s.reason IS NOT NULL AS told';

const MOVED: Statement = {
  name: 'read-moved-steps',
  text: `
    SELECT ${COLUMNS} FROM unnest($1::text[], $2::int[]) AS known (run_id, seq)
      JOIN steps s ON s.run_id = known.run_id AND s.seq > known.seq AND s.seq > 0
    WHERE known.seq > 0
    UNION ALL
    SELECT ${COLUMNS} FROM unnest($1::text[], $2::int[]) AS known (run_id, seq)
      JOIN steps s ON s.run_id = known.run_id AND s.status <> 'pending'
    WHERE known.seq = 0
    ORDER BY run_id, step, element`,
};

/**
 * The steps that have moved since the change `seq` of their run, a step before its elements; with 0, all that are not pending. Each is
 * returned once, in its current state.
 */
export const readMovedSteps = async (
  query: Query,
  known: readonly { run_id: string; seq: number }[],
): Promise<StepState[]> =>
  known.length === 0 ? [] : query<StepState>(MOVED, [known.map((one) => one.run_id), known.map((one) => one.seq)]);
