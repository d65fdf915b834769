import type { Json, JsonObject } from '@capstan/contracts';
import type { Expression } from '@capstan/expression';
import { type CompiledStep, isExpression } from './compile-plan.js';

/** What can be said of a call before anything has run. */
export type Preview =
  | { kind: 'call'; element: number | null; inputs: JsonObject; unknown: string[] }
  | { kind: 'skip'; element: number | null; reason: string }
  | { kind: 'fail'; element: number | null; reason: string };

const isKnown = ({ references }: Expression): boolean => references.every(({ path: [root] }) => root !== 'steps');

/** The calls of a step as far as they are known: what depends on the output of another is shown as its expression. */
export function previewStep(step: CompiledStep, inputs: JsonObject, max_elements: number): Preview[] {
  const { for_each } = step;
  if (for_each === null) return [previewCall(step, { inputs }, null, [])];
  const items = isExpression(for_each)
    ? isKnown(for_each)
      ? for_each.evaluate({ inputs })
      : null
    : { ok: true as const, value: for_each };
  if (items === null) return [previewCall(step, { inputs }, null, [isExpression(for_each) ? for_each.source : ''])];
  if (!items.ok) return [{ kind: 'fail', element: null, reason: `for_each: ${items.error.message}` }];
  if (!Array.isArray(items.value)) return [{ kind: 'fail', element: null, reason: 'for_each: expected a list' }];
  return items.value
    .slice(0, max_elements)
    .map((item: Json, index: number) => previewCall(step, { inputs, item, index }, index, []));
}

function previewCall(
  { when, args }: CompiledStep,
  variables: Record<string, unknown>,
  element: number | null,
  unknown: string[],
): Preview {
  // Of a fan-out whose list is not known, neither are its elements.
  const isSure = (expression: Expression) =>
    isKnown(expression) &&
    ('item' in variables || expression.references.every(({ path: [root] }) => root !== 'item' && root !== 'index'));
  if (typeof when === 'boolean' ? !when : isSure(when)) {
    const outcome = typeof when === 'boolean' ? { ok: true as const, value: when } : when.evaluate(variables);
    if (!outcome.ok) return { kind: 'fail', element, reason: `when: ${outcome.error.message}` };
    if (outcome.value !== true) return { kind: 'skip', element, reason: 'when is false' };
  } else if (typeof when !== 'boolean') unknown.push(when.source);
  const filled = args.preview(variables, isSure);
  if (!filled.ok) return { kind: 'fail', element, reason: filled.message };
  const { value } = filled;
  const inputs = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
  return { kind: 'call', element, inputs, unknown: [...unknown, ...filled.unknown] };
}
