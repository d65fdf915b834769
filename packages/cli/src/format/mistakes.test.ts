import { CapstanError } from '@capstan/client';
import { describe, expect, it } from 'vitest';
import { describeMistakes } from './mistakes.js';

const refused = (detail: string, suggestion: string, errors?: unknown) =>
  describeMistakes(
    new CapstanError({
      type: 'x',
      title: 'x',
      status: 422,
      code: 3010,
      detail,
      suggestion,
      ...(errors ? { errors } : {}),
    }),
  );
const TOOL = { field: 'steps.0.tol', message: 'is not a known field', line: 5, column: 3 };
const NEEDS = { field: 'steps.1.needs', message: 'names no step', line: 9, column: 12 };

describe('mistakes', () => {
  it('are each listed once, with their place and suggestion', () => {
    const first = { ...TOOL, suggestion: 'Did you mean tool?' };
    expect(
      refused('line 5, column 3: steps.0.tol: is not a known field', 'Did you mean tool?', [first, NEEDS]),
    ).toEqual({
      headline: [
        'line 5, column 3: steps.0.tol: is not a known field (Did you mean tool?)',
        'line 9, column 12: steps.1.needs: names no step',
      ].join('\n'),
      suggestion: null,
    });
  });

  it('are listed below a detail that applies to all of them', () => {
    const errors = [
      { field: 'a', message: 'is required' },
      { field: '', message: 'is too long' },
    ];
    expect(refused('the inputs do not fit', 'Correct them.', errors)).toEqual({
      headline: 'the inputs do not fit\na: is required\nis too long',
      suggestion: 'Correct them.',
    });
  });

  it('are reduced to the detail if there is one mistake or none', () => {
    const alone = { headline: 'what it is', suggestion: 'Do.' };
    expect(refused('what it is', 'Do.', [TOOL])).toEqual(alone);
    expect(refused('what it is', 'Do.')).toEqual(alone);
    expect(refused('what it is', 'Do.', 'nonsense')).toEqual(alone);
  });

  it('beyond twenty are counted', () => {
    const { headline } = refused('names no step', 'Do.', Array(25).fill(NEEDS));
    expect(headline.split('\n')).toHaveLength(21);
    expect(headline).toMatch(/\n… 5 more$/);
  });
});
