import type { Json } from '@capstan/contracts';
import { type AstNode, childrenOf, isNode } from './ast-node.js';
import { environmentWith } from './environment.js';
import { type ExpressionError, toExpressionError } from './expression-error.js';
import { findReferences, type Reference } from './find-references.js';
import { isCallOf, meter } from './meter.js';
import { toJson } from './to-json.js';

export const MAX_SOURCE = 4096;

export type Outcome = { ok: true; value: Json } | { ok: false; error: ExpressionError };

/** A compiled expression. */
export type Expression = {
  source: string;
  /** The type of the result, if known: `bool`, `string`, `dyn` … */
  type: string;
  /** The variables it reads from its context. */
  references: Reference[];
  /** Never throws, and takes bounded time. */
  evaluate(context: Record<string, unknown>): Outcome;
};

export type Compiled = { ok: true; expression: Expression } | { ok: false; error: ExpressionError };

/** Compiles an expression. Any variable that is not listed is an error. */
export function compileExpression(source: string, variables: readonly string[]): Compiled {
  if (source.length > MAX_SOURCE)
    return { ok: false, error: toExpressionError(source, new Error(`longer than ${MAX_SOURCE} characters`)) };
  try {
    return { ok: true, expression: compile(source, variables) };
  } catch (thrown) {
    return { ok: false, error: toExpressionError(source, thrown) };
  }
}

function compile(source: string, variables: readonly string[]): Expression {
  const parsed = environmentWith(variables).parse(source);
  const root: unknown = parsed.ast;
  if (!isNode(root)) throw new Error('the parser returned an unknown node');
  refuseBind(root);
  const references = findReferences(root);
  const checked = parsed.check();
  if (!checked.valid) throw checked.error ?? new Error('the expression is not valid');
  const work = meter(root);
  return {
    source,
    type: checked.type ?? 'dyn',
    references,
    evaluate(context) {
      try {
        work.reset();
        const value: unknown = parsed(context);
        const exceeded = work.exceeded();
        if (exceeded) throw exceeded;
        return { ok: true, value: value === true || value === false ? value : toJson(value) };
      } catch (thrown) {
        return { ok: false, error: toExpressionError(source, thrown) };
      }
    },
  };
}

/** With names for intermediate results, a short expression could double a text fifty times. */
function refuseBind(node: AstNode): void {
  if (isCallOf(node, 'bind')) throw new Error('cel.bind() is not available');
  childrenOf(node).forEach(refuseBind);
}
