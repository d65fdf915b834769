import { isObject } from '@capstan/contracts';

/** An error in an expression and its position. Lines and columns start at 1. */
export type ExpressionError = { message: string; line: number; column: number; position: number };

/** Converts any thrown value. Only errors of the library have a position. */
export function toExpressionError(source: string, thrown: unknown): ExpressionError {
  const { start, end } = rangeOf(thrown);
  const position = Math.min(start, source.length);
  const before = source.slice(0, position).split('\n');
  return {
    message: messageOf(thrown, source.slice(position, end).trim()),
    line: before.length,
    column: (before.at(-1) ?? '').length + 1,
    position,
  };
}

function rangeOf(thrown: unknown): { start: number; end: number } {
  const range: unknown = isObject(thrown) && 'range' in thrown ? thrown.range : null;
  if (!isObject(range)) return { start: 0, end: 0 };
  const start = typeof range.start === 'number' ? range.start : 0;
  return { start, end: typeof range.end === 'number' ? range.end : start };
}

/** Translates the library's token names to the signs that authors write. `found` is the text at the position. */
function messageOf(thrown: unknown, found: string): string {
  if (!(thrown instanceof Error)) return 'it failed';
  // `summary` is the message without the source excerpt, which would not fit on one line.
  const summary = 'summary' in thrown && typeof thrown.summary === 'string' ? thrown.summary : thrown.message;
  const misplaced = found === '' ? 'it ends too early' : `${JSON.stringify(found)} is not expected here`;
  switch ('code' in thrown ? thrown.code : null) {
    case 'unexpected_token':
      return `${misplaced}: a value is missing`;
    case 'expected_token': {
      const sign = SIGNS[/^Expected (\w+)/.exec(summary)?.[1] ?? ''];
      return sign === undefined ? misplaced : `${misplaced}: ${sign} is missing`;
    }
    case 'unexpected_character':
      return misplaced;
    case 'unknown_variable':
      return summary.replace(/^Unknown variable: (.*)$/s, 'there is no variable $1');
    case 'no_such_key':
      return summary.replace(/^No such key: (.*)$/s, 'there is no field $1');
    case 'no_such_overload':
      return summary.replace(/^no such overload: (.*)$/s, 'these types do not go together: $1');
    default:
      return summary;
  }
}

const SIGNS: Partial<Record<string, string>> = {
  IDENTIFIER: 'a name',
  LPAREN: '"("',
  RPAREN: '")"',
  LBRACKET: '"["',
  RBRACKET: '"]"',
  LBRACE: '"{"',
  RBRACE: '"}"',
  DOT: '"."',
  COMMA: '","',
  COLON: '":"',
};
