import { isObject, type Json, type JsonObject } from '@capstan/contracts';
import type { Expression } from '@capstan/expression';
import { type CompiledStep, isExpression } from './compile-plan.js';

/** A call as far as it is known before anything runs. */
export type Preview =
  /** `unknown`: the expressions that the inputs depend on. `condition`: the `when` expression, if its value is not known. */
  | { kind: 'call'; element: number | null; inputs: JsonObject; unknown: string[]; condition: string | null }
  | { kind: 'skip'; element: number | null; reason: string }
  | { kind: 'fail'; element: number | null; reason: string };

const isKnown = ({ references }: Expression): boolean => references.every(({ path: [root] }) => root !== 'steps');

/** `left_out`: how many elements are not shown. */
export type StepPreview = { calls: Preview[]; left_out: number };

/** Previews the calls of a step. Values that depend on the output of another step are shown as their expressions. */
export function previewStep(step: CompiledStep, inputs: JsonObject, max_elements: number): StepPreview {
  const { for_each } = step;
  const only = (preview: Preview): StepPreview => ({ calls: [preview], left_out: 0 });
  if (for_each === null) return only(previewCall(step, { inputs }, null, []));
  const items = isExpression(for_each)
    ? isKnown(for_each)
      ? for_each.evaluate({ inputs })
      : null
    : { ok: true as const, value: for_each };
  if (items === null) return only(previewCall(step, { inputs }, null, [isExpression(for_each) ? for_each.source : '']));
  if (!items.ok) return only({ kind: 'fail', element: null, reason: `for_each: ${items.error.message}` });
  const { value } = items;
  if (!Array.isArray(value)) return only({ kind: 'fail', element: null, reason: 'for_each: expected a list' });
  if (value.length === 0) return only({ kind: 'skip', element: null, reason: 'the list is empty' });
  const shown = value.slice(0, max_elements);
  return {
    calls: shown.map((item: Json, index: number) => previewCall(step, { inputs, item, index }, index, [])),
    left_out: value.length - shown.length,
  };
}

function previewCall(
  { when, args }: CompiledStep,
  variables: Record<string, unknown>,
  element: number | null,
  unknown: string[],
): Preview {
  // If the list of a fan-out is not known, neither are its elements.
  const isSure = (expression: Expression) =>
    isKnown(expression) &&
    ('item' in variables || expression.references.every(({ path: [root] }) => root !== 'item' && root !== 'index'));
  if (typeof when === 'boolean' ? !when : isSure(when)) {
    const outcome = typeof when === 'boolean' ? { ok: true as const, value: when } : when.evaluate(variables);
    if (!outcome.ok) return { kind: 'fail', element, reason: `when: ${outcome.error.message}` };
    if (outcome.value !== true) return { kind: 'skip', element, reason: 'when is false' };
  }
  const condition = typeof when === 'boolean' || isSure(when) ? null : when.source;
  const filled = args.preview(variables, isSure);
  if (!filled.ok) return { kind: 'fail', element, reason: filled.message };
  const { value } = filled;
  const inputs = isObject(value) ? value : {};
  return { kind: 'call', element, inputs, unknown: [...unknown, ...filled.unknown], condition };
}
