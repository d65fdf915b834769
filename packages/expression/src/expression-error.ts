/** What is wrong with an expression, and where. Lines and columns count from 1. */
export type ExpressionError = { message: string; line: number; column: number; position: number };

/** Made of whatever was thrown: the library's own errors carry a position, others do not. */
export function toExpressionError(source: string, thrown: unknown): ExpressionError {
  const position = Math.min(startOf(thrown), source.length);
  const before = source.slice(0, position).split('\n');
  return {
    message: messageOf(thrown),
    line: before.length,
    column: (before.at(-1) ?? '').length + 1,
    position,
  };
}

function startOf(thrown: unknown): number {
  if (typeof thrown !== 'object' || thrown === null || !('range' in thrown)) return 0;
  const { range } = thrown;
  if (typeof range !== 'object' || range === null || !('start' in range)) return 0;
  return typeof range.start === 'number' ? range.start : 0;
}

/** `summary` is the message without the picture of the place, which would not fit on one line. */
function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'it failed';
  return 'summary' in thrown && typeof thrown.summary === 'string' ? thrown.summary : thrown.message;
}
