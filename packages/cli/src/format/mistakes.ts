import type { CapstanError } from '@capstan/client';

const MAX_MISTAKES = 20;

type Described = { headline: string; suggestion: string | null };

/** Lists several mistakes on a line each, with place and advice. For a single one, the detail is enough. */
export const describeMistakes = ({ detail, suggestion, problem: { errors } }: CapstanError): Described => {
  const mistakes = Array.isArray(errors) ? errors.filter(isMistake) : [];
  const [first] = mistakes;
  if (first === undefined || mistakes.length === 1) return { headline: detail, suggestion };
  const lines = mistakes.slice(0, MAX_MISTAKES).map(describeMistake);
  const hidden = mistakes.length - lines.length;
  return {
    // The detail usually describes the first mistake.
    headline: [
      ...(detail.includes(first.message) ? [] : [detail]),
      ...lines,
      ...(hidden > 0 ? [`… ${hidden} more`] : []),
    ].join('\n'),
    suggestion: suggestion === first.suggestion ? null : suggestion,
  };
};

type Mistake = { field: string; message: string; line?: unknown; column?: unknown; suggestion?: unknown };

const isMistake = (error: unknown): error is Mistake =>
  typeof error === 'object' &&
  error !== null &&
  'field' in error &&
  typeof error.field === 'string' &&
  'message' in error &&
  typeof error.message === 'string';

const describeMistake = ({ field, message, line, column, suggestion }: Mistake): string =>
  [
    ...(typeof line === 'number' ? [`line ${line}, column ${column}: `] : []),
    field === '' ? message : `${field}: ${message}`,
    ...(typeof suggestion === 'string' ? [` (${suggestion})`] : []),
  ].join('');
