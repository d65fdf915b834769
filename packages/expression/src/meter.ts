import { EvaluationError } from '@marcbachmann/cel-js';
import { type AstNode, childrenOf, type Evaluate, isNode } from './ast-node.js';
import { matchesPattern } from './matches-pattern.js';

/** The most loop steps of one evaluation. No reasonable condition needs more. */
const MAX_STEPS = 100_000;
/** A time limit as a last resort, because each step may still compare large values. Reasonable expressions stay far below it. */
const MAX_MS = 250;
const LOOK_EVERY = 64;
const MAX_ELEMENTS = 100_000;
const MAX_CHARACTERS = 4_194_304;

export type Meter = {
  reset(): void;
  /** The error after a limit was exceeded. It is kept, because `exists`, `||` and other CEL operators absorb errors. */
  exceeded(): Error | null;
};

/**
 * CEL always terminates, but nested loops over large inputs and lists that double can take long. So loop steps are counted and
 * growing values are measured. Regular expressions match in linear time.
 */
export function meter(root: AstNode): Meter {
  let steps = 0;
  let deadline = 0;
  let exceeded: Error | null = null;
  // Reuse one error, because creating one for each remaining step costs more than the steps.
  const stop = (why: string): never => {
    exceeded ??= new EvaluationError({ code: 'too_much_work', message: `too much work: ${why}` });
    throw exceeded;
  };
  // Most conditions end before the first check, so the clock is not read until then.
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
