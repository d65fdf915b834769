import { afterEach, describe, expect, test, vi } from 'vitest';
import { Receipts } from './intake.js';
import { newClaimed } from './testing/new-claimed.js';

const callsOn = (claim_id: string, ...ids: string[]) =>
  ids.map((invocation_id) => newClaimed({ claim_id, invocation_id }));
const REMEMBER_MS = 1000;

afterEach(() => void vi.restoreAllMocks());

describe('the receipts of a worker', () => {
  test('start each receipt once, with all of its calls', () => {
    const receipts = new Receipts(REMEMBER_MS);
    const calls = callsOn('clm_1', 'inv_1', 'inv_2');
    expect(receipts.begin(calls)).toEqual(calls);
    expect(receipts.begin(calls)).toEqual([]);
    expect(receipts.begin([...calls, ...callsOn('clm_2', 'inv_3')])).toEqual(callsOn('clm_2', 'inv_3'));
  });

  test('know a receipt from its start, even after it is finished', () => {
    const receipts = new Receipts(REMEMBER_MS);
    expect(receipts.knows('clm_1')).toBe(false);
    receipts.begin(callsOn('clm_1', 'inv_1'));
    expect(receipts.knows('clm_1')).toBe(true);
    receipts.settled('clm_1', 'inv_1');
    expect(receipts.knows('clm_1')).toBe(true);
    expect(receipts.begin(callsOn('clm_1', 'inv_1'))).toEqual([]);
  });

  test('are completed only by all calls that are left on them', () => {
    const receipts = new Receipts(REMEMBER_MS);
    receipts.begin(callsOn('clm_1', 'inv_1', 'inv_2', 'inv_3'));
    expect(receipts.isCompletedBy('clm_1', new Set(['inv_1', 'inv_2']))).toBe(false);
    receipts.settled('clm_1', 'inv_3');
    expect(receipts.isCompletedBy('clm_1', new Set(['inv_1']))).toBe(false);
    expect(receipts.isCompletedBy('clm_1', new Set(['inv_1', 'inv_2', 'inv_9']))).toBe(true);
  });

  test('are forgotten once no more messages about them can arrive, but not while a call is left', () => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(0);
    const receipts = new Receipts(REMEMBER_MS);
    receipts.begin([...callsOn('clm_1', 'inv_1'), ...callsOn('clm_2', 'inv_2', 'inv_3')]);
    receipts.begin([...callsOn('clm_3', 'inv_4'), ...callsOn('clm_4', 'inv_5')]);
    receipts.settled('clm_1', 'inv_1');
    receipts.settled('clm_2', 'inv_2');
    now.mockReturnValue(REMEMBER_MS - 1);
    receipts.settled('clm_3', 'inv_4');
    expect(receipts.knows('clm_1')).toBe(true);
    now.mockReturnValue(REMEMBER_MS);
    receipts.settled('clm_4', 'inv_5');
    const known = ['clm_1', 'clm_2', 'clm_3', 'clm_4'].map((claim_id) => receipts.knows(claim_id));
    expect(known).toEqual([false, true, true, true]);
  });

  test('ignore a call that is settled twice or belongs to an unknown receipt', () => {
    const receipts = new Receipts(REMEMBER_MS);
    receipts.begin(callsOn('clm_1', 'inv_1', 'inv_2'));
    receipts.settled('clm_1', 'inv_1');
    receipts.settled('clm_1', 'inv_1');
    receipts.settled('clm_9', 'inv_9');
    expect(receipts.isCompletedBy('clm_1', new Set(['inv_2']))).toBe(true);
    expect(receipts.knows('clm_9')).toBe(false);
  });
});
