/** A node of the parsed expression, as far as it is looked at here. Its types say less than it has. */
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

/** The nodes right under one, as they are evaluated: a macro is what it stands for. */
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
