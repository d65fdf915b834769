import type { Invocation } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { resultText } from './result-text.js';

const invocation = (over: Partial<Invocation>, result: object | null = {}): Invocation => {
  const hash = `sha256:${'0'.repeat(64)}`;
  const whole = {
    success: true,
    payload: null,
    error: null,
    code: null,
    declared_side_effects: [],
    artifacts: [],
    facts: null,
    duration_ms: 1,
    exit_code: null,
    truncated: false,
    input_hash: hash,
    output_hash: hash,
    chain_hash: null,
  };
  const decision = {
    effect: 'allow' as const,
    allowed: true,
    reason: 'because',
    rule_matched: null,
    code: null,
    limits: { timeout_ms: 30_000, max_output_bytes: 1_048_576 },
    policy_hash: hash,
  };
  return {
    invocation_id: 'inv_1',
    run_id: 'run_1',
    tool_id: 't',
    runner: 'exec',
    status: 'succeeded',
    actor: 'a',
    inputs: {},
    input_hash: hash,
    descriptor_hash: hash,
    policy_hash: hash,
    decision,
    hold_id: null,
    mode: 'execution',
    session_id: null,
    idempotency_key: null,
    priority: 0,
    timeout_ms: 30_000,
    max_attempts: 1,
    attempt: 1,
    labels: {},
    run_at: null,
    expires_at: null,
    created_at: '',
    finished_at: null,
    ...over,
    result: result === null ? null : { ...whole, ...result },
  };
};

describe('the text of a result', () => {
  const streams = (stdout: string, stderr = '') => ({ stdout, stderr, exit_code: 0 });

  test.each<[string, Invocation, string, boolean]>([
    ['a success', invocation({}, { payload: streams('out\n'), exit_code: 0 }), 'out\n[Exit code: 0]', true],
    [
      'a success with both streams',
      invocation({}, { payload: streams('out', 'warned'), exit_code: 0 }),
      'out\nwarned\n[Exit code: 0]',
      true,
    ],
    [
      'a failure',
      invocation({ status: 'failed' }, { payload: streams('out', 'bad'), exit_code: 1, error: 'exit 1' }),
      'bad\nout\n[Exit code: 1]',
      false,
    ],
    [
      'a silent failure',
      invocation({ status: 'failed' }, { payload: streams(''), exit_code: 2, error: 'it ended with 2' }),
      'Error: it ended with 2\n[Exit code: 2]',
      false,
    ],
    [
      'a timeout',
      invocation({ status: 'timed_out' }, { payload: streams('part'), error: '[TIMEOUT after 30s]' }),
      'part\n[TIMEOUT after 30s]',
      false,
    ],
    ['a short timeout', invocation({ status: 'timed_out', timeout_ms: 700 }, {}), '[TIMEOUT after 0.7s]', false],
    [
      'a cut',
      invocation({}, { payload: streams('part'), truncated: true, exit_code: 0 }),
      'part\n[TRUNCATED - output exceeded 1MB]\n[Exit code: 0]',
      true,
    ],
    ['an object', invocation({}, { payload: { a: 1 } }), '{"a":1}', true],
    ['a text', invocation({}, { payload: 'hello' }), 'hello', true],
    ['an error', invocation({ status: 'failed' }, { error: 'Division by zero' }), 'Error: Division by zero', false],
    ['an unclear end', invocation({ status: 'ambiguous' }, { error: 'who knows' }), 'Error: who knows', false],
  ])('%s', (_, given, text, ok) => {
    expect(resultText(given)).toEqual({ text, ok });
  });

  test('of an unknown outcome tells a model not to call again', () => {
    expect(resultText(invocation({ status: 'ambiguous' }, null)).text).toMatch(
      /^\[AMBIGUOUS\] .*Do not call it again.*inv_1/,
    );
  });

  test('of a call that has not ended describes its status', () => {
    expect(resultText(invocation({ status: 'held' }, null)).text).toMatch(/^\[HELD\] .*because.*inv_1/);
    expect(resultText(invocation({ status: 'running' }, null)).text).toMatch(/^\[PENDING\] .*running/);
  });
});
