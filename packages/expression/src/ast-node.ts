/** The parts of a parsed expression's node that are used here. The types of the library do not declare all of them. */
export type AstNode = {
  op: string;
  args: unknown;
  meta: { alternate?: unknown; evaluate: Evaluate };
  handle?: unknown;
};
export type Evaluate = (evaluator: unknown, node: unknown, context: unknown) => unknown;

export function isNode(value: unknown): value is AstNode {
  if (typeof value !== 'object' || value === null || !('op' in value) || !('meta' in value)) return false;
  const { op, meta } = value;
  return (
    typeof op === 'string' &&
    typeof meta === 'object' &&
    meta !== null &&
    'evaluate' in meta &&
    typeof meta.evaluate === 'function'
  );
}

/** The direct children of a node as they are evaluated. A macro is replaced by its expansion. */
export function childrenOf(node: AstNode): AstNode[] {
  if (isNode(node.meta.alternate)) return [node.meta.alternate];
  return nodesIn(node.args);
}

export function nodesIn(value: unknown): AstNode[] {
  if (isNode(value)) return [value];
  if (Array.isArray(value)) return value.flatMap(nodesIn);
  // A comprehension: its range, its start and its step.
  if (typeof value === 'object' && value !== null && 'iterable' in value && 'step' in value)
    return [...nodesIn(value.iterable), ...nodesIn(value.step)];
  return [];
}
