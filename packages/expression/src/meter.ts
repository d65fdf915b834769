import { EvaluationError } from '@marcbachmann/cel-js';
import { type AstNode, childrenOf, type Evaluate, isNode } from './ast-node.js';
import { matchesPattern } from './matches-pattern.js';

/** More steps than this are no condition but a program. */
const MAX_STEPS = 100_000;
/** Each step may still compare large values, so there is a last resort. Nothing sensible comes near it. */
const MAX_MS = 250;
const LOOK_EVERY = 64;
const MAX_ELEMENTS = 100_000;
const MAX_CHARACTERS = 4_194_304;

export type Meter = {
  reset(): void;
  /** Set once there was too much; `exists`, `||` and others of CEL would let an error pass. */
  exceeded(): Error | null;
};

/**
 * CEL always ends, but not always soon: loops within loops over large inputs, and lists that double. So the steps of every
 * loop are counted, and what grows is measured. Regular expressions are matched in linear time.
 */
export function meter(root: AstNode): Meter {
  let steps = 0;
  let deadline = 0;
  let exceeded: Error | null = null;
  // The same error again: making one for each step left costs more than the steps.
  const stop = (why: string): never => {
    exceeded ??= new EvaluationError({ code: 'too_much_work', message: `too much work: ${why}` });
    throw exceeded;
  };
  // Most conditions end before the first look, so that the clock is left alone until then.
  const lookAtClock = () => {
    const now = performance.now();
    if (steps === LOOK_EVERY) deadline = now + MAX_MS;
    if (now > deadline) stop('it takes too long');
  };
  const step = () => {
    steps += 1;
    if (exceeded || steps > MAX_STEPS) stop(`more than ${MAX_STEPS} steps`);
    if (steps % LOOK_EVERY === 0) lookAtClock();
  };
  const measured = (value: unknown): unknown => {
    if (typeof value === 'string' && value.length > MAX_CHARACTERS) stop('the text is too long');
    if (Array.isArray(value) && value.length > MAX_ELEMENTS) stop('the list is too long');
    return value;
  };
  const visit = (node: AstNode): void => {
    if (GROWS.has(node.op))
      wrap(
        node,
        (evaluate) =>
          (...args) =>
            measured(evaluate(...args)),
      );
    if (isCallOf(node, 'matches')) node.handle = ([text, pattern]: unknown[]) => matchesPattern(text, pattern);
    const loop = stepOf(node);
    if (loop)
      wrap(loop, (evaluate) => (...args) => {
        step();
        return evaluate(...args);
      });
    childrenOf(node).forEach(visit);
  };
  visit(root);
  return {
    reset() {
      steps = 0;
      exceeded = null;
    },
    exceeded: () => exceeded,
  };
}

const GROWS: ReadonlySet<string> = new Set(['+', 'call', 'rcall']);

function wrap(node: AstNode, around: (evaluate: Evaluate) => Evaluate): void {
  if (!isNode(node.meta.alternate)) node.meta.evaluate = around(node.meta.evaluate);
}

function stepOf({ op, args }: AstNode): AstNode | null {
  if (op !== 'comprehension' || typeof args !== 'object' || args === null || !('step' in args)) return null;
  return isNode(args.step) ? args.step : null;
}

export const isCallOf = ({ op, args }: AstNode, name: string): boolean =>
  (op === 'rcall' || op === 'call') && Array.isArray(args) && args[0] === name;
