import type { Json, StepStatus } from '@capstan/contracts';
import type { Query, Statement } from '../open-store.js';
import type { ReadyStep } from './end-steps.js';
import { invocationIdOf, wholeSteps } from './step-sql.js';

const READY: Statement = {
  name: 'find-ready-steps',
  text: `
    SELECT s.run_id, s.step, s.element, s.item FROM unnest($1::text[], $2::int[]) AS r (run_id, room),
      LATERAL (
        SELECT * FROM steps WHERE steps.run_id = r.run_id AND status = 'pending' AND unmet = 0
        ORDER BY step, element LIMIT r.room
      ) AS s`,
};

/** Steps of which all that they need has ended, in the order of the plan, as many of each run as there is room for. */
export const findReadySteps = async (
  query: Query,
  rooms: readonly { run_id: string; room: number }[],
): Promise<ReadyStep[]> =>
  rooms.length === 0 ? [] : query<ReadyStep>(READY, [rooms.map((one) => one.run_id), rooms.map((one) => one.room)]);

export type ReadWanted = { run_id: string; step: number; output: boolean };
export type StepState = {
  run_id: string;
  step: number;
  status: StepStatus;
  output: Json;
  /** Of a step that is fanned out. */
  outputs: Json[] | null;
};

const STATES: Statement = {
  name: 'read-step-states',
  text: `
    SELECT s.run_id, s.step, s.status, s.elements, r.payload AS output
    FROM ${wholeSteps('unnest($1::text[], $2::int[], $3::boolean[]) AS w (run_id, step, output)')} w
      JOIN steps s ON s.run_id = w.run_id AND s.step = w.step AND s.element = w.element
      LEFT JOIN results r ON w.output AND s.has_invocation AND r.invocation_id = ${invocationIdOf('s')}`,
};

type Row = Omit<StepState, 'outputs'> & { elements: number | null };

/** How steps ended and what came of them. Only what is read is loaded. */
export async function readStepStates(query: Query, wanted: readonly ReadWanted[]): Promise<StepState[]> {
  if (wanted.length === 0) return [];
  const rows = await query<Row>(STATES, [
    wanted.map((one) => one.run_id),
    wanted.map((one) => one.step),
    wanted.map((one) => one.output),
  ]);
  const fanned = rows.filter(({ elements }) => elements !== null);
  const outputs = fanned.length > 0 ? await readOutputs(query, fanned, wanted) : new Map<string, Json[]>();
  return rows.map(({ elements, ...row }) => ({
    ...row,
    outputs: elements === null ? null : (outputs.get(`${row.run_id} ${row.step}`) ?? []),
  }));
}

const OUTPUTS: Statement = {
  name: 'read-step-outputs',
  text: `
    SELECT s.run_id, s.step, r.payload
    FROM unnest($1::text[], $2::int[]) AS w (run_id, step)
      JOIN steps s ON s.run_id = w.run_id AND s.step = w.step AND s.element >= 0
      LEFT JOIN results r ON s.has_invocation AND r.invocation_id = ${invocationIdOf('s')}
    ORDER BY s.run_id, s.step, s.element`,
};

async function readOutputs(query: Query, fanned: Row[], wanted: readonly ReadWanted[]): Promise<Map<string, Json[]>> {
  const wants = new Set(wanted.filter(({ output }) => output).map(({ run_id, step }) => `${run_id} ${step}`));
  const read = fanned.filter(({ run_id, step }) => wants.has(`${run_id} ${step}`));
  const rows = await query<{ run_id: string; step: number; payload: Json }>(OUTPUTS, [
    read.map((one) => one.run_id),
    read.map((one) => one.step),
  ]);
  const outputs = new Map<string, Json[]>();
  for (const { run_id, step, payload } of rows) {
    const key = `${run_id} ${step}`;
    const list = outputs.get(key);
    if (list) list.push(payload);
    else outputs.set(key, [payload]);
  }
  return outputs;
}
