import { type Json, type JsonObject, type Plan, type PlanStep, type Retry, toolOfAlias } from '@capstan/contracts';
import type { Expression } from '@capstan/expression';
import { buildGraph, type Graph } from './build-graph.js';
import { checkReferences, type Read } from './check-references.js';
import { type Compiler, createCompiler, type Template } from './compile-template.js';
import { type ParsedPlan, parsePlan } from './parse-plan.js';
import { type Mistake, PlanFailure } from './plan-error.js';
import { compileInputs, type PlanInputs } from './plan-inputs.js';

export type CompiledStep = {
  /** The position in the plan. */
  index: number;
  id: string;
  name: string | null;
  tool_id: string;
  needs: number[];
  dependents: number[];
  when: Expression | boolean;
  /** True if `when` is evaluated for each element rather than once. */
  when_of_element: boolean;
  for_each: Expression | Json[] | null;
  args: Template;
  /** The references of `when` and `for_each`, and those of `args`. */
  reads: { before: Read[]; args: Read[] };
  retry: Retry | null;
  timeout_ms: number | null;
  on_error: 'stop' | 'continue';
};

/** A compiled plan, which all runs of the plan can share. */
export type CompiledPlan = {
  plan: Plan;
  plan_hash: string;
  document: JsonObject;
  name: string | null;
  max_parallel: number | null;
  inputs: PlanInputs;
  steps: CompiledStep[];
  /** The steps whose output other steps read. */
  taken: ReadonlySet<number>;
};

const ONCE = ['inputs', 'steps'];
const OF_ELEMENT = [...ONCE, 'item', 'index'];

/** Returns undefined if the tool exists, otherwise similar ids. */
export type FindTool = (tool_id: string) => { similar: string[] } | undefined;
/** Validates inputs that are known before anything runs. */
export type FindWrong = (tool_id: string, inputs: JsonObject) => { field: string; message: string }[];

/** Compiles a plan, or throws a `PlanFailure` with all its mistakes. */
export function compilePlan(source: unknown, missing?: FindTool, wrong?: FindWrong): CompiledPlan {
  const compiling = compilingPlan(source, missing, wrong);
  for (;;) {
    const { done, value } = compiling.next();
    if (done) return value;
  }
}

/** Like `compilePlan`, but yields after each step, so that a plan with thousands of steps does not block the event loop. */
export function* compilingPlan(
  source: unknown,
  missing: FindTool = () => undefined,
  wrong: FindWrong = () => [],
): Generator<void, CompiledPlan, void> {
  const parsed = parsePlan(source);
  const mistakes: Mistake[] = [];
  const { plan } = parsed;
  plan.steps.forEach(({ tool }, index) => {
    const found = missing(toolOfAlias(tool));
    if (found)
      mistakes.push({
        path: ['steps', index, 'tool'],
        message: `there is no tool ${tool}`,
        suggestion:
          found.similar.length > 0
            ? `Did you mean ${found.similar.join(', ')}?`
            : 'List the tools with capstan tools, or GET /v1/tools.',
      });
  });
  const graph = buildGraph(plan.steps, mistakes);
  const inputs = compileInputs(plan, mistakes);
  const compilers = { once: createCompiler(ONCE, mistakes), of_element: createCompiler(OF_ELEMENT, mistakes) };
  const fanned = plan.steps.map((step) => step.for_each !== undefined);
  const steps: CompiledStep[] = [];
  for (const step of plan.steps) {
    const around = { graph, step: steps.length, inputs: inputs.names, fanned, compilers, mistakes };
    const before = mistakes.length;
    const compiled = compileStep(step, around);
    steps.push(compiled);
    // Arguments with an expression that does not compile are not validated: they have no value yet.
    const isKnown = compiled.args.expressions.length === 0 && !mistakes.slice(before).some(isInArgs);
    if (isKnown)
      for (const { field, message } of wrong(compiled.tool_id, step.args ?? {}))
        mistakes.push({ path: ['steps', compiled.index, 'args', ...pathIn(field)], message });
    yield;
  }
  if (mistakes.length > 0) throw new PlanFailure(parsed.toErrors(mistakes));
  return toPlan(parsed, inputs, steps);
}

const isInArgs = ({ path }: Mistake): boolean => path[2] === 'args';

/** Drops the leading `inputs`, because a plan calls them `args`. */
const pathIn = (field: string): string[] => field.split('.').slice(1);

const toPlan = (
  { plan, plan_hash, document }: ParsedPlan,
  inputs: PlanInputs,
  steps: CompiledStep[],
): CompiledPlan => ({
  plan,
  plan_hash,
  document,
  name: plan.name ?? null,
  max_parallel: plan.max_parallel ?? null,
  inputs,
  steps,
  taken: new Set(
    steps.flatMap(({ reads }) =>
      [...reads.before, ...reads.args].filter(({ output }) => output).map(({ step }) => step),
    ),
  ),
});

type Around = {
  graph: Graph;
  step: number;
  inputs: ReadonlySet<string>;
  fanned: readonly boolean[];
  compilers: { once: Compiler; of_element: Compiler };
  mistakes: Mistake[];
};

function compileStep(step: PlanStep, around: Around): CompiledStep {
  const { graph, step: index, compilers } = around;
  const path = ['steps', index];
  const fanned = step.for_each !== undefined;
  const compiler = fanned ? compilers.of_element : compilers.once;
  const when = typeof step.when === 'string' ? compiler.expression(step.when, [...path, 'when']) : (step.when ?? true);
  const for_each =
    typeof step.for_each === 'string'
      ? compilers.once.expression(step.for_each, [...path, 'for_each'])
      : (step.for_each ?? null);
  const args = compiler.template(step.args ?? {}, [...path, 'args']);
  const reads = (expression: Expression | unknown, field: string) =>
    isExpression(expression) ? checkReferences(expression, [...path, field], around, around.mistakes) : [];
  return {
    index,
    id: graph.ids[index] ?? '',
    name: step.name ?? null,
    tool_id: toolOfAlias(step.tool),
    needs: graph.needs[index] ?? [],
    dependents: graph.dependents[index] ?? [],
    when: when ?? true,
    when_of_element: fanned && isExpression(when) && takesElement(when),
    for_each,
    args,
    reads: {
      before: [...reads(when, 'when'), ...reads(for_each, 'for_each')],
      args: args.expressions.flatMap(({ expression, path: at }) =>
        checkReferences(expression, at, around, around.mistakes),
      ),
    },
    retry: step.retry ?? null,
    timeout_ms: step.timeout_ms ?? null,
    on_error: step.on_error ?? 'stop',
  };
}

export const isExpression = (value: unknown): value is Expression =>
  typeof value === 'object' && value !== null && 'evaluate' in value;

const takesElement = ({ references }: Expression): boolean =>
  references.some(({ path: [root] }) => root === 'item' || root === 'index');
