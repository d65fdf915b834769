import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { issueText } from './issue-text.js';

const of = (schema: z.ZodType, value: unknown): string =>
  schema.safeParse(value).error?.issues.map(issueText).join('; ') ?? 'nothing';

describe('a validation error is described for its sender', () => {
  test.each([
    [z.object({ a: z.string() }), {}, 'is missing'],
    [z.string(), 5, 'must be a text'],
    [z.coerce.number(), 'x', 'must be a number'],
    [z.int(), 1.5, 'must be a whole number'],
    [z.int().min(1), 0, 'must be at least 1'],
    [z.number().positive(), 0, 'must be more than 0'],
    [z.number().max(9), 10, 'must be at most 9'],
    [z.string().min(1), '', 'must not be empty'],
    [z.string().max(2), 'abc', 'must have at most 2 characters'],
    [z.array(z.string()).min(2), ['a'], 'must have at least 2 items'],
    [z.enum(['a', 'b']), 'c', 'must be one of a, b'],
    [z.literal('x'), 'y', 'must be x'],
    [z.iso.datetime(), 'now', 'must be a time like 2026-01-31T12:00:00Z'],
    [z.url(), 'x', 'must be an address like https://example.com/'],
    [z.union([z.string(), z.array(z.string())]), 5, 'must be a text or a list'],
    [z.union([z.enum(['a', 'b']), z.array(z.enum(['a', 'b']))]), ['c'], 'must be one of a, b'],
    [z.strictObject({ a: z.string() }), { a: '', b: 1 }, 'has b, which it does not take'],
    [z.string().regex(/^x/, 'starts with x'), 'y', 'starts with x'],
  ])('%#: %o', (schema, value, text) => {
    expect(of(schema, value)).toBe(text);
  });
});
