import { type AstNode, isNode, nodesIn } from './ast-node.js';

/** A variable and the path read from it, as far as the path is literal: `steps.page.output["a"][0]`. */
export type Reference = {
  path: (string | number)[];
  /** True if it is read with `has()` or `.?` and may be missing. */
  optional: boolean;
};

const LOOPS: ReadonlySet<unknown> = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

/** Returns all variables that an expression reads from its context, without the variables of its own loops. */
export function findReferences(root: AstNode): Reference[] {
  const found: Reference[] = [];
  const visit = (node: AstNode, locals: ReadonlySet<string>, optional: boolean): void => {
    const path = pathOf(node);
    if (path) {
      if (!locals.has(String(path.path[0]))) found.push({ path: path.path, optional: optional || path.optional });
      for (const inner of path.within) visit(inner, locals, false);
      return;
    }
    const loop = loopOf(node);
    if (loop) {
      visit(loop.range, locals, optional);
      const inside = new Set([...locals, loop.variable]);
      for (const inner of loop.body) visit(inner, inside, optional);
      return;
    }
    const asks = node.op === 'call' && Array.isArray(node.args) && node.args[0] === 'has';
    for (const child of nodesIn(node.args)) visit(child, locals, optional || asks);
  };
  visit(root, new Set(), false);
  return found;
}

/** `ended`: true after a computed key, because the rest of the path is unknown. */
type Path = { path: (string | number)[]; optional: boolean; ended: boolean; within: AstNode[] };

/** Returns null if the node does not start at a variable. */
function pathOf(node: AstNode): Path | null {
  if (node.op === 'id') return { path: [String(node.args)], optional: false, ended: false, within: [] };
  if (!Array.isArray(node.args) || !ACCESS.has(node.op)) return null;
  const [left, right]: unknown[] = node.args;
  const base = isNode(left) ? pathOf(left) : null;
  if (!base) return null;
  const optional = base.optional || node.op === '.?' || node.op === '[?]';
  const key = keyOf(right);
  if (key !== null) return { ...base, path: base.ended ? base.path : [...base.path, key], optional };
  return isNode(right) ? { ...base, optional, ended: true, within: [...base.within, right] } : null;
}

/** Returns null if the key is computed. */
function keyOf(right: unknown): string | number | null {
  if (typeof right === 'string') return right;
  const value = isNode(right) && right.op === 'value' ? right.args : null;
  return typeof value === 'bigint' ? Number(value) : typeof value === 'string' ? value : null;
}

const ACCESS: ReadonlySet<string> = new Set(['.', '.?', '[]', '[?]']);

type Loop = { range: AstNode; variable: string; body: AstNode[] };

function loopOf({ op, args }: AstNode): Loop | null {
  if (op !== 'rcall' || !Array.isArray(args) || !LOOPS.has(args[0])) return null;
  const [, range, given]: unknown[] = args;
  if (!isNode(range) || !Array.isArray(given)) return null;
  const [variable, ...body] = given.filter(isNode);
  return variable?.op === 'id' ? { range, variable: String(variable.args), body } : null;
}
