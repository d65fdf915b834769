import type { Approvals, Decision } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { newInvocation } from '../testing/new-invocation.js';
import { asksTheSame } from './asks-the-same.js';

const hold = (approvals: Approvals, ...rules: string[]): Decision => ({
  ...newInvocation().decision,
  effect: 'hold',
  allowed: false,
  rule_matched: rules[0] ?? null,
  rules: rules.map((id) => ({ id, matched: true, why: '' })),
  approvals,
});
const two = hold({ required: 2 }, 'refunds');

describe('after an edit of the inputs', () => {
  test('votes stay valid if the same rules ask for the same people, or nobody has to be asked', () => {
    expect(asksTheSame(two, hold({ required: 2 }, 'refunds'))).toBe(true);
    expect(asksTheSame(two, newInvocation().decision)).toBe(true);
  });

  test.each([
    ['another rule holds them', hold({ required: 2 }, 'large-refunds')],
    ['one more rule holds them', hold({ required: 2 }, 'refunds', 'abroad')],
    ['more people are asked for', hold({ required: 3 }, 'refunds')],
    ['fewer people are asked for', hold({ required: 1 }, 'refunds')],
    ['others are asked', hold({ required: 2, actors: ['carol'] }, 'refunds')],
    ['policy wants every change seen by all', hold({ required: 2, revote_on_edit: true }, 'refunds')],
  ])('another call where %s', (_, after) => {
    expect(asksTheSame(two, after)).toBe(false);
  });
});
