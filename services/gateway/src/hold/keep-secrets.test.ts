import { describe, expect, test } from 'vitest';
import { redacted } from './hold-item.js';
import { keepSecrets } from './keep-secrets.js';

const TOKEN = `ghp_${'aB3dE6gH9j'.repeat(4).slice(0, 36)}`;
const OTHER = `ghp_${'zY8xW5vU2t'.repeat(4).slice(0, 36)}`;
const STORED = {
  amount: 5,
  token: TOKEN,
  note: `use ${TOKEN} for it`,
  to: { name: 'ann', password: 'hunter2-and-more' },
  keys: [TOKEN, OTHER],
  [`of ${OTHER}`]: 1,
};
const shown = redacted(STORED);

describe('edited inputs', () => {
  test('keep every secret whose value is sent back exactly as shown', () => {
    expect(JSON.stringify(shown)).not.toContain('ghp_');
    expect(keepSecrets(shown, STORED)).toEqual(STORED);
    const to = { ...STORED.to, name: 'bob' };
    expect(keepSecrets({ ...shown, amount: 6, to: { ...redacted(STORED.to), name: 'bob' } }, STORED)).toEqual({
      ...STORED,
      amount: 6,
      to,
    });
  });

  test('may drop a secret or replace it', () => {
    const { token: _, ...rest } = shown;
    const { token: __, ...left } = STORED;
    expect(keepSecrets(rest, STORED)).toEqual(left);
    expect(keepSecrets({ ...shown, token: OTHER }, STORED)).toEqual({ ...STORED, token: OTHER });
  });

  test.each([
    ['in an edited text', { note: 'please use [REDACTED] for it' }, 'inputs.note'],
    ['in a new member', { more: { secret: '[REDACTED]' } }, 'inputs.more'],
    ['in place of a value that was no secret', { amount: '[REDACTED]' }, 'inputs.amount'],
    ['in an edited list', { keys: ['[REDACTED]'] }, 'inputs.keys'],
    ['in the name of a member', { 'my [REDACTED]': 1 }, 'inputs.my [REDACTED]'],
  ])('are refused with a placeholder %s', (_where, change, path) => {
    expect(() => keepSecrets({ ...shown, ...change }, STORED)).toThrow(path);
  });

  test('may contain the placeholder text if it was submitted literally', () => {
    const literal = { text: '[REDACTED] is what it prints', more: 1 };
    expect(keepSecrets({ ...literal, more: 2 }, literal)).toEqual({ ...literal, more: 2 });
  });
});
