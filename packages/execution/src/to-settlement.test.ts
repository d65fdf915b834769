import { BUILTIN_TOOLS } from '@capstan/catalog';
import { type Decision, type Descriptor, Failure, type Json } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { createRedactor } from '@capstan/redact';
import type { RunOutcome } from '@capstan/runners';
import type { Claimed } from '@capstan/store/claim';
import { describe, expect, test } from 'vitest';
import { Running, type StopReason } from './running.js';
import { newClaimed } from './testing/new-claimed.js';
import { newWorkerContext } from './testing/new-worker-context.js';
import { type Finished, toSettlement } from './to-settlement.js';

const SECRET = 'correct-horse-battery-staple';
const worker = newWorkerContext({ redactor: createRedactor({ values: [SECRET] }) });
const descriptor = BUILTIN_TOOLS.find((tool) => tool.tool_id === 'cap:test_math:add');

function settle(finished: Finished, given: Partial<Claimed> = {}, stopped?: StopReason) {
  const running = new Running(newClaimed(given));
  if (stopped) running.stop(stopped);
  return toSettlement(worker, running, finished, 12.345_678);
}
function ran(outcome: RunOutcome | null, tool: Descriptor | undefined = descriptor): Finished {
  if (!tool) throw new Error('there is no tool');
  return { kind: 'ran', outcome, descriptor: tool };
}
const succeeded = (payload: Json = { result: 3 }) => ran({ success: true, payload });
const failed = (retryable: boolean) =>
  ran({ success: false, error: 'exit 1', kind: 'TOOL_ERROR', retryable, exit_code: 1, payload: 'out' });

describe('a tool that succeeded', () => {
  test('settles with its payload and the hashes of input and output', () => {
    expect(settle(succeeded())).toEqual({
      claim_id: 'clm_1',
      invocation_id: 'inv_1',
      attempt: 1,
      first_attempt: 1,
      tenant: 'acme',
      actor: 'ann',
      run_id: null,
      watched: false,
      status: 'succeeded',
      backoff_ms: 0,
      outcome: 'succeeded',
      error: null,
      result: {
        success: true,
        payload: { result: 3 },
        code: null,
        declared_side_effects: [],
        artifacts: [],
        facts: null,
        duration_ms: 12.346,
        exit_code: null,
        truncated: false,
        input_hash: hashJson({ a: 1, b: 2 }),
        output_hash: hashJson({ result: 3 }),
      },
    });
  });

  test('has its output redacted before it is hashed', () => {
    const { result } = settle(succeeded({ [SECRET]: [`Bearer ${SECRET}`] }));
    expect(JSON.stringify(result)).not.toContain(SECRET);
    expect(result?.output_hash).toBe(hashJson(result?.payload));
  });

  test('has output without a canonical form repaired, and the hash is that of the stored output', () => {
    const { status, result } = settle(succeeded({ text: 'a\ud800', number: Number.NaN, nul: '\u0000' }));
    expect(status).toBe('succeeded');
    expect(result?.payload).toEqual({ text: 'a\ufffd', number: null, nul: '\u0000' });
    expect(result?.output_hash).toBe(hashJson({ text: 'a\ufffd', number: null, nul: '\u0000' }));
  });

  test('settles with the side effects that it declares', () => {
    const shell = BUILTIN_TOOLS.find((tool) => tool.tool_id === 'shell.run');
    expect(settle(ran({ success: true, payload: null }, shell)).result?.declared_side_effects).toContain('system.exec');
  });
});

describe('a tool that failed', () => {
  test('permanently ends the invocation with its error', () => {
    expect(settle(failed(false))).toMatchObject({
      status: 'failed',
      outcome: 'failed',
      error: 'exit 1',
      result: { success: false, code: 2003, exit_code: 1, payload: 'out' },
    });
  });

  test('is retried if a retry may help and attempts are left', () => {
    const first = settle(failed(true), { attempt: 1 });
    expect(first).toMatchObject({ status: 'queued', outcome: 'failed', error: 'exit 1' });
    expect(first.backoff_ms).toBeGreaterThanOrEqual(250);
    expect(first.backoff_ms).toBeLessThanOrEqual(500);
    const second = settle(failed(true), { attempt: 2 });
    expect(second.backoff_ms).toBeGreaterThanOrEqual(500);
    expect(settle(failed(true), { attempt: 3 })).toMatchObject({ status: 'failed', backoff_ms: 0 });
  });

  test('counts its attempts from first_attempt', () => {
    expect(settle(failed(true), { attempt: 5, first_attempt: 5 })).toMatchObject({ status: 'queued' });
    expect(settle(failed(true), { attempt: 7, first_attempt: 5 })).toMatchObject({ status: 'failed' });
  });

  test('has secrets, and characters that Postgres cannot store, removed from its error', () => {
    const error = `no \u0000 ${SECRET} \ud800`;
    const settled = settle(ran({ success: false, error, kind: 'TOOL_ERROR', retryable: false }));
    expect(settled.error).not.toContain(SECRET);
    expect(settled.error).not.toContain('\u0000');
    expect(settled.error?.isWellFormed()).toBe(true);
  });
});

describe('an attempt that failed outside its tool', () => {
  test('is retried if the fault is unknown', () => {
    const broke: Finished = { kind: 'broke', error: new TypeError('x is undefined'), started: true };
    expect(settle(broke)).toMatchObject({ status: 'queued', error: 'x is undefined', result: { code: 2008 } });
    expect(settle(broke, { max_attempts: 1 })).toMatchObject({
      status: 'failed',
      result: { success: false, payload: null },
    });
    expect(settle({ kind: 'broke', error: 'text', started: true })).toMatchObject({ error: 'text' });
  });

  test('is ambiguous if its tool may have taken effect, and retried if the tool was not started', () => {
    const error = new TypeError('x is undefined');
    expect(settle({ kind: 'broke', error, started: true }, { idempotent: false })).toMatchObject({
      status: 'ambiguous',
      error: 'x is undefined',
      result: { success: false, code: 2009 },
    });
    expect(settle({ kind: 'broke', error, started: false }, { idempotent: false })).toMatchObject({ status: 'queued' });
  });

  test('is not retried if the fault says that a retry cannot help', () => {
    const error = new Failure('UNKNOWN_TOOL', { detail: 'This worker does not know it.', retryable: false });
    expect(settle({ kind: 'broke', error, started: false })).toMatchObject({
      status: 'failed',
      result: { code: 2001 },
    });
  });

  test('ends as failed if its runner did not return although nobody stopped it', () => {
    expect(settle(ran(null))).toMatchObject({ status: 'failed', error: 'the runner did not stop' });
  });
});

describe('a tool whose runner does not know whether it took effect', () => {
  const cut = ran({ success: false, error: 'cut off', kind: 'OUTCOME_UNKNOWN', retryable: false });

  test('ends as ambiguous if it may not be repeated', () => {
    expect(settle(cut, { idempotent: false })).toMatchObject({
      status: 'ambiguous',
      outcome: 'ambiguous',
      error: 'cut off',
      result: { success: false, code: 2009 },
    });
  });

  test('is retried if it may be repeated', () => {
    expect(settle(cut)).toMatchObject({ status: 'queued', error: 'cut off' });
  });
});

test('a denial right before the run ends the invocation as denied, with the reason', () => {
  const decision: Decision = {
    effect: 'deny',
    allowed: false,
    reason: 'a rule forbids it',
    rule_matched: 'no-shell',
    code: 'POLICY_DENIED',
    limits: { timeout_ms: 1500, max_output_bytes: 1000 },
    policy_hash: hashJson(null),
  };
  expect(settle({ kind: 'denied', decision })).toMatchObject({
    status: 'denied',
    error: 'denied right before the run: a rule forbids it',
    result: { success: false, code: 1003 },
  });
});

describe('a tool that was stopped', () => {
  test('by its deadline ends as timed_out, whatever it returned', () => {
    for (const finished of [succeeded(), failed(true), ran(null)])
      expect(settle(finished, {}, 'timeout')).toMatchObject({
        status: 'timed_out',
        error: '[TIMEOUT after 1.5s]',
        backoff_ms: 0,
        result: { success: false, code: 2004 },
      });
  });

  test('by a cancel ends as canceled', () => {
    expect(settle(failed(true), {}, 'cancel')).toMatchObject({ status: 'canceled', result: { code: 2007 } });
  });

  test.each(['shutdown', 'lost'] as const)('by a %s goes to another worker when it may be repeated', (reason) => {
    const settled = settle(failed(false), {}, reason);
    expect(settled).toMatchObject({ status: 'queued', outcome: 'handed_back' });
    expect(settled.backoff_ms).toBeGreaterThan(0);
  });

  test.each(['shutdown', 'lost'] as const)('by a %s is ambiguous when it may have taken effect', (reason) => {
    expect(settle(failed(true), { idempotent: false }, reason)).toMatchObject({
      status: 'ambiguous',
      outcome: 'ambiguous',
      result: { success: false, code: 2009 },
    });
  });

  test('by a shutdown is handed back even on its last attempt, which then does not count', () => {
    expect(settle(failed(true), { attempt: 3 }, 'shutdown')).toMatchObject({
      status: 'queued',
      outcome: 'handed_back',
    });
  });
});

test('a call that its worker did not start returns to the queue at once, and its attempt does not count', () => {
  for (const idempotent of [true, false])
    expect(settle({ kind: 'unstarted' }, { idempotent, attempt: 3 })).toMatchObject({
      status: 'queued',
      outcome: 'handed_back',
      error: 'claimed, but not started',
      backoff_ms: 1,
    });
});

test('a settlement names the receipt of its call, which fences it', () => {
  const claimed = { claim_id: 'clm_9', run_id: 'run_1', watched: true, attempt: 4, first_attempt: 2 };
  expect(settle(succeeded(), claimed)).toMatchObject(claimed);
});
