import { isObject, type Json, type JsonObject, MAX_ELEMENTS, type StepStatus } from '@capstan/contracts';
import type { Read } from './check-references.js';
import { type CompiledStep, isExpression } from './compile-plan.js';
import type { Context } from './compile-template.js';

/** The parts of an ended step that later steps can read. */
export type EndedStep = { status: StepStatus; output?: Json; outputs?: Json[] };

export type StepContext = {
  inputs: JsonObject;
  /** The steps that this one reads, by id. */
  steps: Readonly<Record<string, EndedStep>>;
  /** The same by index. */
  ended(step: number): EndedStep | undefined;
};

/** How a step continues after the steps it needs have ended. */
export type Prepared =
  | { kind: 'call'; inputs: JsonObject }
  | { kind: 'fan_out'; items: Json[] }
  | { kind: 'skip'; reason: string }
  | { kind: 'fail'; reason: string };

type Element = { item: Json; index: number };

/** Prepares a step. One with `for_each` is prepared once without an element, then for each element. */
export function prepareStep(step: CompiledStep, context: StepContext, element: Element | null): Prepared {
  const variables: Context = { inputs: context.inputs, steps: context.steps, ...(element ?? {}) };
  if (step.when_of_element === (element !== null)) {
    const stopped = askWhen(step, context, variables);
    if (stopped) return stopped;
  }
  return step.for_each !== null && element === null ? fanOut(step, context, variables) : call(step, context, variables);
}

function askWhen(step: CompiledStep, context: StepContext, variables: Context): Prepared | null {
  const { when } = step;
  if (typeof when === 'boolean') return when ? null : { kind: 'skip', reason: 'when is false' };
  const outcome = when.evaluate(variables);
  if (!outcome.ok) {
    const skipped = skippedAmong(step.reads.before, context);
    return skipped ?? { kind: 'fail', reason: `when: ${outcome.error.message}` };
  }
  if (outcome.value === true) return null;
  if (outcome.value === false) return { kind: 'skip', reason: `when: ${when.source} is false` };
  return { kind: 'fail', reason: `when: expected true or false, ${when.source} gave ${nameOf(outcome.value)}` };
}

function fanOut({ for_each, reads }: CompiledStep, context: StepContext, variables: Context): Prepared {
  if (!isExpression(for_each)) return { kind: 'fan_out', items: Array.isArray(for_each) ? for_each : [] };
  const skipped = skippedAmong(reads.before, context);
  if (skipped) return skipped;
  const outcome = for_each.evaluate(variables);
  if (!outcome.ok) return { kind: 'fail', reason: `for_each: ${outcome.error.message}` };
  if (!Array.isArray(outcome.value))
    return { kind: 'fail', reason: `for_each: expected a list, ${for_each.source} gave ${nameOf(outcome.value)}` };
  if (outcome.value.length > MAX_ELEMENTS)
    return { kind: 'fail', reason: `for_each: ${outcome.value.length} elements; at most ${MAX_ELEMENTS} are allowed` };
  return { kind: 'fan_out', items: outcome.value };
}

function call({ args, reads }: CompiledStep, context: StepContext, variables: Context): Prepared {
  const skipped = skippedAmong(reads.args, context);
  if (skipped) return skipped;
  const filled = args.fill(variables);
  if (!filled.ok) return { kind: 'fail', reason: filled.message };
  return { kind: 'call', inputs: isObject(filled.value) ? filled.value : {} };
}

/** A step that reads the output of a skipped step is skipped too. */
function skippedAmong(reads: readonly Read[], { ended, steps }: StepContext): Prepared | null {
  for (const { step, output, optional } of reads) {
    const read = ended(step);
    if (output && !optional && read?.status === 'skipped') {
      const id = Object.keys(steps).find((each) => steps[each] === read);
      return { kind: 'skip', reason: `${id ?? 'a step whose output it reads'} was skipped` };
    }
  }
  return null;
}

const nameOf = (value: Json): string =>
  value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
