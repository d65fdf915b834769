import type { StepDifference } from '@capstan/contracts';
import type { ComparedCall } from '@capstan/store/record';

type Difference = StepDifference['differences'][number];
const MAX_DIFFERENCES = 20;
const MAX_TEXT = 500;

export function compareCall({ recorded, now, ...call }: ComparedCall): StepDifference {
  const { output_hash, recorded_output_hash } = call;
  if (output_hash === null) return { ...call, outcome: 'not_executed', differences: [] };
  if (output_hash === recorded_output_hash) return { ...call, outcome: 'same', differences: [] };
  return { ...call, outcome: 'differs', differences: [...walk('', recorded, now, { left: MAX_DIFFERENCES })] };
}

/** Depth first, up to a maximum number of differences. Very deep values are compared as a whole. */
function* walk(
  path: string,
  recorded: unknown,
  now: unknown,
  budget: { left: number },
  depth = 0,
): Generator<Difference> {
  if (budget.left <= 0 || Object.is(recorded, now)) return;
  if (depth < 64 && isBranch(recorded) && isBranch(now) && Array.isArray(recorded) === Array.isArray(now)) {
    const [before, after] = [new Map(Object.entries(recorded)), new Map(Object.entries(now))];
    for (const key of new Set([...before.keys(), ...after.keys()]))
      yield* walk(
        `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`,
        before.get(key),
        after.get(key),
        budget,
        depth + 1,
      );
    return;
  }
  budget.left -= 1;
  yield { path, recorded: short(recorded), now: short(now) };
}

const isBranch = (value: unknown): value is object => typeof value === 'object' && value !== null;

const short = (value: unknown): unknown => {
  const text = JSON.stringify(value) ?? 'null';
  return text.length <= MAX_TEXT ? (value ?? null) : `${text.slice(0, MAX_TEXT).toWellFormed()}…`;
};
