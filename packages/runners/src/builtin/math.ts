import { type BuiltinTool, invalidInputs } from './builtin-tool.js';

const operation =
  (apply: (a: number, b: number) => number): BuiltinTool =>
  ({ a, b }) => {
    if (typeof a !== 'number' || typeof b !== 'number') return invalidInputs('a and b must be numbers');
    const result = apply(a, b);
    if (!Number.isFinite(result)) return notFinite(apply === quotient && b === 0);
    // JSON has no -0, so the stored value would differ from the hashed one.
    return { success: true, payload: { result: result + 0 } };
  };

const quotient = (a: number, b: number): number => a / b;

const notFinite = (division_by_zero: boolean) =>
  ({
    success: false,
    error: division_by_zero ? 'Division by zero' : 'The result is too large for a number',
    kind: 'TOOL_ERROR',
    retryable: false,
  }) as const;

export const add = operation((a, b) => a + b);
export const subtract = operation((a, b) => a - b);
export const multiply = operation((a, b) => a * b);
export const divide = operation(quotient);
