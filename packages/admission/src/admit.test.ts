import { catalogOf, toEntry } from '@capstan/catalog';
import { DAY_MS, Failure, NO_EFFECTS, type PolicyDocument, type Quota } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { describe, expect, test } from 'vitest';
import { compileOpen } from '../../policy/src/testing/compile-open.js';
import { newTool } from '../../policy/src/testing/new-request.js';
import { admit, type Call } from './admit.js';

const add = newTool({
  input_schema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
  effects: { ...NO_EFFECTS, cost_units: 3 },
});
const pay = newTool({ tool_id: 'cap:bank:pay', name: 'pay', effects: { ...NO_EFFECTS, idempotent: false } });
const off = newTool({ tool_id: 'cap:bank:close', name: 'close', input_schema: { required: ['account'] } });
const catalog = {
  ...catalogOf(
    [add, pay].map((tool) => toEntry(tool)),
    [],
    [toEntry(off)],
  ),
  close: () => {},
};

const ALLOW: PolicyDocument = { rules: [{ id: 'all', effect: 'allow', match: { tool: '*' } }] };
const hold = (approvals = {}): PolicyDocument => ({
  rules: [...(ALLOW.rules ?? []), { id: 'ask', effect: 'hold', match: { tool: '*' }, approvals }],
});
const DENY: PolicyDocument = { rules: [{ id: 'never', effect: 'forbid', match: { tool: '*' }, reason: 'too large' }] };

const quota = (on_exceed: Quota['on_exceed']): Quota => ({
  scope: `tenant:${on_exceed}`,
  limits: { calls_per_day: 1 },
  on_exceed,
  updated_by: 'otto',
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
});

const newCall = (given: Partial<Call> = {}): Call => ({
  invocation_id: 'inv_1',
  run_id: null,
  tenant: 'acme',
  actor: 'ann',
  roles: ['submit'],
  tool_id: add.tool_id,
  inputs: { a: 1 },
  mode: 'execution',
  labels: {},
  session_id: null,
  ...given,
});

/** Admits a call under the given policy and quotas, for a tenant with webhooks if `watched`. */
function admitted(
  given: Partial<Call> = {},
  { policy = ALLOW, quotas, watched }: { policy?: PolicyDocument; quotas?: Quota[]; watched?: true } = {},
) {
  const rules = {
    quotasOf: () => quotas,
    quotas: () => quotas ?? [],
    approvedSpecs: () => [],
    watches: () => watched,
    anyWatched: () => watched ?? false,
    refresh: () => Promise.resolve(),
    close: () => {},
  };
  return admit({ catalog, rules }, compileOpen(policy), newCall(given));
}

/** Returns the failure of an admission. */
function refusalOf(given: Partial<Call>): Failure {
  try {
    admitted(given);
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error('the call was admitted');
}

describe('admission', () => {
  test('turns an allowed call into a queued row with the hashes of its inputs, tool and policy', () => {
    const { policy_hash } = compileOpen(ALLOW);
    expect(admitted()).toMatchObject({
      status: 'queued',
      runner: 'builtin',
      tool_id: add.tool_id,
      input_hash: hashJson({ a: 1 }),
      descriptor_hash: hashJson(add),
      policy_hash,
      decision: { effect: 'allow', rule_matched: 'all', policy_hash },
    });
  });

  test.each<[string, Partial<Call>]>([
    ['a delay', { delay_ms: 10 }],
    ['a time to run at', { run_at: '2030-01-01T00:00:00Z' }],
  ])('defers a call with %s', (_, given) => {
    expect(admitted(given)).toMatchObject({ status: 'deferred', run_at: null, delay_ms: null, ...given });
  });

  test('records a denied call with the decision, and counts it against no quota', () => {
    const row = admitted({ delay_ms: 10 }, { policy: DENY, quotas: [quota('defer')] });
    expect(row).toMatchObject({ status: 'denied', decision: { effect: 'deny', reason: 'too large' } });
    expect(row.quota_scopes).toBeUndefined();
  });

  test.each([
    { tool_id: add.tool_id, max_attempts: undefined, attempts: 3 },
    { tool_id: pay.tool_id, max_attempts: undefined, attempts: 1 },
    { tool_id: pay.tool_id, max_attempts: 7, attempts: 7 },
  ])('tries $tool_id with max_attempts $max_attempts up to $attempts times', ({ attempts, ...given }) => {
    expect(admitted(given).max_attempts).toBe(attempts);
  });

  test('limits the timeout of a call to that of its policy', () => {
    const policy: PolicyDocument = { ...ALLOW, limits: [{ timeout_ms: 500 }] };
    expect(admitted({ timeout_ms: 9_000 }, { policy }).timeout_ms).toBe(500);
    expect(admitted({ timeout_ms: 200 }, { policy }).timeout_ms).toBe(200);
  });

  test('marks the calls of a tenant with webhooks', () => {
    expect(admitted({}, { watched: true }).watched).toBe(true);
    expect(admitted().watched).toBeUndefined();
  });
});

describe('a held call', () => {
  test.each([
    { policy_ms: undefined, call_ms: undefined, expires_in_ms: DAY_MS },
    { policy_ms: 1_000, call_ms: undefined, expires_in_ms: 1_000 },
    { policy_ms: 1_000, call_ms: 5_000, expires_in_ms: 1_000 },
    { policy_ms: 5_000, call_ms: 1_000, expires_in_ms: 1_000 },
    { policy_ms: undefined, call_ms: 2 * DAY_MS, expires_in_ms: DAY_MS },
  ])('expires after $expires_in_ms ms if its policy says $policy_ms and the call $call_ms', (given) => {
    const { policy_ms, call_ms, expires_in_ms } = given;
    const policy = hold(policy_ms === undefined ? {} : { expires_in_ms: policy_ms });
    const call = call_ms === undefined ? {} : { expires_in_ms: call_ms };
    expect(admitted(call, { policy })).toMatchObject({ status: 'held', expires_in_ms });
  });

  test('stays held under a quota that defers, which counts it once it is released', () => {
    const row = admitted({}, { policy: hold(), quotas: [quota('defer')] });
    expect(row).toMatchObject({ status: 'held', quota_scopes: ['tenant:defer'], expires_in_ms: DAY_MS });
  });
});

describe('a call under quotas', () => {
  test('waits for up to a week if one of them defers', () => {
    expect(admitted({}, { quotas: [quota('deny'), quota('defer')] })).toMatchObject({
      status: 'deferred',
      expires_in_ms: 7 * DAY_MS,
      quota_scopes: ['tenant:deny', 'tenant:defer'],
      cost_units: 3,
    });
  });

  test('waits no longer than its own deadline', () => {
    expect(admitted({ expires_in_ms: 50 }, { quotas: [quota('defer')] }).expires_in_ms).toBe(50);
  });

  test('is queued if all of them deny, and counted when it is committed', () => {
    const row = admitted({}, { quotas: [quota('deny')] });
    expect(row).toMatchObject({ status: 'queued', expires_in_ms: null, quota_scopes: ['tenant:deny'] });
  });

  test('also waits for one that denies if it has no waiting client', () => {
    const row = admitted({ unattended: true }, { quotas: [quota('deny')] });
    expect(row).toMatchObject({ status: 'deferred', expires_in_ms: 7 * DAY_MS });
  });
});

describe('a call is refused', () => {
  test('if the tool does not exist, with suggestions', () => {
    const refusal = refusalOf({ tool_id: 'cap:bank:payy' });
    expect(refusal).toMatchObject({ kind: 'UNKNOWN_TOOL', context: { similar: [pay.tool_id] } });
    expect(refusal.suggestion).toContain(pay.tool_id);
  });

  test('if its inputs do not match the schema of the tool, with the field', () => {
    const refusal = refusalOf({ inputs: { a: 'one' } });
    expect(refusal).toMatchObject({ kind: 'INVALID_INPUTS', context: { errors: [{ field: 'inputs.a' }] } });
  });

  test('if its inputs have no canonical form', () => {
    expect(refusalOf({ tool_id: pay.tool_id, inputs: { text: '\ud800' } })).toMatchObject({ kind: 'INVALID_INPUTS' });
  });
});

test('a call of a disabled tool is denied, whatever its policy and inputs are', () => {
  const row = admitted({ tool_id: off.tool_id, inputs: {} }, { policy: hold() });
  expect(row).toMatchObject({ status: 'denied', decision: { allowed: false, code: 'TOOL_DISABLED' } });
  expect(row.decision.approvals).toBeUndefined();
});
