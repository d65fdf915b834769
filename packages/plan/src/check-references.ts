import type { Expression } from '@capstan/expression';
import type { Graph } from './build-graph.js';
import type { Mistake } from './plan-error.js';
import { didYouMean } from './suggest-name.js';

/** What an expression takes of a step that ended before. */
export type Read = {
  step: number;
  /** Its output, or only its status. */
  output: boolean;
  /** Asked for with `has()` or `.?`. */
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

/** Missing steps and inputs are found here, before anything has run. */
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
      mistake: { message: 'steps are taken by their names, like steps.page.output', suggestion: 'Write the name out.' },
    };
  const place = graph.places.get(name);
  if (place === undefined)
    return { mistake: { message: `there is no step ${name}`, suggestion: didYouMean(name, graph.places.keys()) } };
  if (place === step || !graph.isBefore(place, step))
    return {
      mistake: { message: `${name} does not end before this step starts`, suggestion: `Add ${name} to its needs.` },
    };
  if (typeof member !== 'string' || !MEMBERS.includes(member))
    return {
      mistake: { message: 'a step has output, outputs and status', suggestion: didYouMean(String(member), MEMBERS) },
    };
  if (member === 'outputs' && !fanned[place])
    return { mistake: { message: `${name} is not fanned out`, suggestion: `Write steps.${name}.output.` } };
  if (member === 'output' && fanned[place])
    return { mistake: { message: `${name} is fanned out`, suggestion: `Write steps.${name}.outputs, a list.` } };
  return { read: { step: place, output: member !== 'status', optional } };
}
