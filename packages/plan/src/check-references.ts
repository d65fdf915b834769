import type { Expression } from '@capstan/expression';
import type { Graph } from './build-graph.js';
import type { Mistake } from './plan-error.js';
import { didYouMean } from './suggest-name.js';

/** A reference to a step that ended earlier. */
export type Read = {
  step: number;
  /** True if it reads the output, false if only the status. */
  output: boolean;
  /** Read with `has()` or `.?`. */
  optional: boolean;
};

export type Scope = {
  graph: Graph;
  step: number;
  inputs: ReadonlySet<string>;
  fanned: readonly boolean[];
};

type Look = { read?: Read; mistake?: Omit<Mistake, 'path'> };
const NOTHING: Look = {};

/** Finds references to missing steps and inputs before anything runs. */
export function checkReferences(
  expression: Expression,
  path: readonly PropertyKey[],
  scope: Scope,
  mistakes: Mistake[],
): Read[] {
  const reads: Read[] = [];
  for (const { path: parts, optional } of expression.references) {
    const [root, name, member] = parts;
    const { read, mistake } =
      root === 'steps'
        ? lookAtStep(name, member, optional, scope)
        : root === 'inputs'
          ? lookAtInput(name, scope)
          : NOTHING;
    if (read) reads.push(read);
    if (mistake) mistakes.push({ path, ...mistake, message: `\${{ ${expression.source} }}: ${mistake.message}` });
  }
  return reads;
}

function lookAtInput(name: string | number | undefined, { inputs }: Scope): Look {
  if (typeof name !== 'string' || inputs.has(name)) return {};
  return {
    mistake: {
      message: `the plan has no input ${name}`,
      suggestion: didYouMean(name, inputs) ?? 'Declare it under inputs.',
    },
  };
}

const MEMBERS = ['output', 'outputs', 'status'];

function lookAtStep(
  name: string | number | undefined,
  member: string | number | undefined,
  optional: boolean,
  { graph, step, fanned }: Scope,
): Look {
  if (typeof name !== 'string')
    return {
      mistake: {
        message: 'a step must be referenced by its name, for example steps.page.output',
        suggestion: 'Use the name of the step instead of an expression.',
      },
    };
  const place = graph.places.get(name);
  if (place === undefined)
    return { mistake: { message: `there is no step ${name}`, suggestion: didYouMean(name, graph.places.keys()) } };
  if (place === step || !graph.isBefore(place, step))
    return {
      mistake: {
        message: `${name} does not end before this step starts`,
        suggestion: `Add ${name} to the needs of this step.`,
      },
    };
  if (typeof member !== 'string' || !MEMBERS.includes(member))
    return {
      mistake: {
        message: 'a step has only output, outputs and status',
        suggestion: didYouMean(String(member), MEMBERS),
      },
    };
  if (member === 'outputs' && !fanned[place])
    return { mistake: { message: `${name} has no for_each`, suggestion: `Write steps.${name}.output.` } };
  if (member === 'output' && fanned[place])
    return { mistake: { message: `${name} has a for_each`, suggestion: `Write steps.${name}.outputs, a list.` } };
  return { read: { step: place, output: member !== 'status', optional } };
}
