import type { Validation } from '@capstan/contracts';
import { describe, expect, it } from 'vitest';
import { HASH } from '../testing/fake-rows.js';
import { run } from '../testing/run-in-test.js';
import { withAnswers } from '../testing/with-answers.js';

const validation = (effect: Validation['decision']['effect']): Validation => ({
  tool_id: 'cap:test_math:add',
  status: effect === 'deny' ? 'denied' : 'queued',
  inputs: { a: 2 },
  warnings: ['c is not a parameter of this command and is left out'],
  input_hash: HASH,
  descriptor_hash: HASH,
  decision: {
    effect,
    allowed: effect === 'allow',
    reason: 'the rule sums says so',
    rule_matched: 'sums',
    code: null,
    limits: { timeout_ms: 1000, max_output_bytes: 1000 },
    policy_hash: HASH,
  },
  suggestion: effect === 'deny' ? 'Add a rule.' : null,
});
let answer = validation('allow');
const { seen, env } = withAnswers(() => answer);
const validate = (...args: string[]) =>
  run(['invoke', 'cap:test_math:add', '{"a":"2","c":1}', '--validate', ...args], { env });

describe('invoke --validate', () => {
  it('sends the call for validation, and prints the decision and ignored inputs', async () => {
    answer = validation('allow');
    const { code, stdout, stderr } = await validate();
    expect(seen).toMatchObject([{ request: 'POST /v1/invocations?validate=true', body: { inputs: { a: '2', c: 1 } } }]);
    expect(code).toBe(0);
    expect(stdout).toContain('✓ allowed  cap:test_math:add  the rule sums says so');
    expect(stderr).toContain('c is not a parameter');
  });

  it('exits with 3 for a denial and 4 for a hold, like the call itself', async () => {
    answer = validation('deny');
    const denied = await validate();
    expect(denied.code).toBe(3);
    expect(denied.stdout).toContain('→ Add a rule.');
    answer = validation('hold');
    expect((await validate()).code).toBe(4);
  });

  it('prints the whole answer as JSON', async () => {
    answer = validation('allow');
    expect(JSON.parse((await validate('--json')).stdout)).toEqual(answer);
  });
});
