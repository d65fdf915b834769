import { ALL_EFFECTS, NO_EFFECTS, type PolicyDocument } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { compilePolicy } from './compile-policy.js';
import { findWarnings } from './find-warnings.js';
import { parsePolicy } from './parse-policy.js';
import type { Request } from './request.js';
import { newRequest, newTool } from './testing/new-request.js';

const policy = (rules: unknown[], more: object = {}): PolicyDocument =>
  parsePolicy({ version: '1.0', boundary: 'deny_by_default', rules, ...more });
const decide = (document: PolicyDocument, given: Partial<Request> = {}) =>
  compilePolicy(document).decide(newRequest(given));

const allow = { id: 'a', effect: 'allow', match: { tool: 'cap:*' } };
const hold = { id: 'h', effect: 'hold', match: { tool: 'cap:test_math:*' } };
const forbid = { id: 'f', effect: 'forbid', match: { runner: 'builtin' } };

describe('the precedence of rules', () => {
  test('without a rule, a call is denied', () => {
    expect(decide(policy([]))).toMatchObject({ effect: 'deny', allowed: false, code: 'NO_RULE' });
  });
  test('a matching allow rule allows, and is named', () => {
    expect(decide(policy([allow]))).toMatchObject({ effect: 'allow', allowed: true, rule_matched: 'a' });
  });
  test('an allow rule for other tools does not apply', () => {
    expect(decide(policy([allow]), { descriptor: newTool({ tool_id: 'ext:cap:x' }) }).effect).toBe('deny');
  });
  test('hold beats allow, in any order', () => {
    expect(decide(policy([allow, hold])).effect).toBe('hold');
    expect(decide(policy([hold, allow])).effect).toBe('hold');
  });
  test('forbid beats both', () => {
    expect(decide(policy([allow, hold, forbid]))).toMatchObject({ effect: 'deny', rule_matched: 'f' });
  });
  test('a decision lists exactly the rules that matched', () => {
    const other = { id: 'o', effect: 'allow', match: { tool: 'mcp:*' } };
    expect(decide(policy([other, allow])).rules).toEqual([{ id: 'a', matched: true, why: 'allowed by a' }]);
  });
});

describe('an allow rule that accepts a hold', () => {
  const accepting = (accepts: string[], more: object = {}) => ({ id: 'x', effect: 'allow', ...more, accepts });

  test('lets the calls that it matches through, and the decision mentions it', () => {
    const decided = decide(policy([hold, accepting(['h'], { if: 'inputs == {"a": 1}' })]), { inputs: { a: 1 } });
    expect(decided).toMatchObject({ effect: 'allow', rule_matched: 'x' });
    expect(decided.rules).toContainEqual({
      id: 'h',
      matched: true,
      why: "rule h asks for a person's consent; accepted by x",
    });
  });
  test('lets no other calls through', () => {
    const document = policy([hold, accepting(['h'], { if: 'inputs == {"a": 1}' })]);
    for (const inputs of [{ a: 2 }, { a: '1' }, { a: 1, b: 1 }, {}])
      expect(decide(document, { inputs }).effect).toBe('hold');
  });
  test('accepts only the holds that it names', () => {
    const other = { id: 'other', effect: 'hold', approvals: { required: 2 } };
    expect(decide(policy([hold, other, accepting(['h'])]))).toMatchObject({
      effect: 'hold',
      rule_matched: 'other',
      approvals: { required: 2 },
    });
    expect(decide(policy([hold, forbid, accepting(['h', 'f'])])).effect).toBe('deny');
  });
  test('accepts a gate of risk or effects by its name, but not a forbidding one', () => {
    const high = { descriptor: newTool({ risk: 'HIGH', effects: ALL_EFFECTS }) };
    const gated = { effects: { network: 'hold' } };
    expect(decide(policy([accepting(['risk.HIGH'])], gated), high)).toMatchObject({ rule_matched: 'effects.network' });
    expect(decide(policy([accepting(['risk.HIGH', 'effects.network'])], gated), high).effect).toBe('allow');
    const critical = { descriptor: newTool({ risk: 'CRITICAL' }) };
    expect(decide(policy([accepting(['risk.CRITICAL'])]), critical)).toMatchObject({ code: 'SPEC_NOT_FROZEN' });
  });
  test('does not accept holds of the installation', () => {
    const installation = parsePolicy({ version: '1.0', rules: [hold] });
    const document = { ...policy([allow, accepting(['h'])]), installation };
    expect(compilePolicy(document).decide(newRequest())).toMatchObject({ effect: 'hold', decided_by: 'installation' });
  });
  test('is refused unless it allows, and causes a warning if it names no hold', () => {
    expect(() => policy([{ ...hold, accepts: ['x'] }])).toThrow('only a rule that allows');
    expect(findWarnings(policy([accepting(['h', 'risk.HIGH'])]), [])).toEqual([
      { field: 'rules.0.accepts', message: 'no rule h holds anything' },
    ]);
  });
});

describe('a rule that names tools and their risk', () => {
  const risky = (risk: 'HIGH' | 'CRITICAL') => ({ descriptor: newTool({ risk }) });
  const accepting = (risk_max: string, tool: unknown = 'cap:test_math:*') => ({
    ...{ id: 'accepts', effect: 'allow', match: { tool, risk_max } },
  });

  test('has accepted that risk, so that the default gate does not hold the call again', () => {
    expect(decide(policy([accepting('HIGH')]), risky('HIGH'))).toMatchObject({
      effect: 'allow',
      rule_matched: 'accepts',
    });
    expect(decide(policy([accepting('CRITICAL')]), risky('CRITICAL')).effect).toBe('allow');
  });
  test('accepts only that risk', () => {
    expect(decide(policy([accepting('HIGH'), allow]), risky('CRITICAL')).effect).toBe('deny');
    expect(decide(policy([allow]), risky('HIGH')).effect).toBe('hold');
  });
  test('accepts no risk if it names no tool, or all of them', () => {
    expect(decide(policy([accepting('HIGH', '*')]), risky('HIGH')).effect).toBe('hold');
    expect(decide(policy([{ id: 'a', effect: 'allow', match: { risk_max: 'HIGH' } }]), risky('HIGH')).effect).toBe(
      'hold',
    );
  });
  test('does not undo a gate that the document sets, or another rule that holds', () => {
    const gated = policy([accepting('HIGH')], { risk: { HIGH: { effect: 'hold' } } });
    expect(decide(gated, risky('HIGH')).effect).toBe('hold');
    expect(decide(policy([accepting('HIGH'), hold]), risky('HIGH')).effect).toBe('hold');
  });
});

test('a hold names every rule and every gate that holds the call', () => {
  const descriptor = newTool({ risk: 'HIGH', effects: ALL_EFFECTS });
  const decision = decide(policy([allow, hold], { effects: { destructive: 'hold' } }), { descriptor });
  expect(decision.rules?.map(({ id }) => id)).toEqual(['a', 'h', 'risk.HIGH', 'effects.destructive']);
  expect(decision.rule_matched).toBe('h');
});

describe('combined holds', () => {
  test('ask for the largest quorum, all the roles, the common actors and the shortest expiry', () => {
    const one = { required: 2, roles: ['operate'], actors: ['bob', 'eve'], expires_in_ms: 9000, allow_self: true };
    const other = { required: 1, roles: ['admin'], actors: ['eve', 'dan'], expires_in_ms: 5000 };
    const both = policy([
      { ...hold, id: 'one', approvals: one },
      { ...hold, id: 'other', approvals: other },
    ]);
    expect(decide(both).approvals).toEqual({
      required: 2,
      roles: ['operate', 'admin'],
      actors: ['eve'],
      allow_self: false,
      expires_in_ms: 5000,
    });
  });
  test('list all their reasons', () => {
    const reasons = policy([
      { ...hold, id: 'one', reason: 'it is large' },
      { ...hold, id: 'other', reason: 'it is late' },
    ]);
    expect(decide(reasons).reason).toBe('it is large; it is late');
  });
});

describe('planning mode', () => {
  const planning = { mode: 'planning' } as const;
  test('denies a tool with side effects', () => {
    const writes = newTool({ side_effects: ['fs.write'] });
    expect(decide(policy([allow]), { ...planning, descriptor: writes }).code).toBe('PLANNING_MODE');
  });
  test('denies a tool without declared effects', () => {
    expect(decide(policy([allow]), { ...planning, descriptor: newTool({ effects: ALL_EFFECTS }) }).allowed).toBe(false);
  });
  test('allows a tool that only reads', () => {
    const reads = newTool({ side_effects: ['fs.read', 'database.read'] });
    expect(decide(policy([allow]), { ...planning, descriptor: reads }).allowed).toBe(true);
  });
});

describe('a match', () => {
  const matching = (match: object, given: Partial<Request> = {}) =>
    decide(policy([{ id: 'a', effect: 'allow', match }]), given).allowed;
  test.each([
    ['runner', { runner: ['exec', 'builtin'] }, { runner: 'exec' }],
    ['source', { source: 'capability' }, { source: 'mcp' }],
    ['origin', { origin: 'test_*' }, { origin: 'github' }],
    ['risk_max', { risk_max: 'MED' }, { risk_max: 'LOW' }, newTool({ risk: 'MED' })],
    ['risk_min', { risk_min: 'LOW' }, { risk_min: 'MED' }],
    [
      'side_effects_any',
      { side_effects_any: ['fs.read', 'payments'] },
      { side_effects_any: ['payments'] },
      newTool({ side_effects: ['fs.read'] }),
    ],
    [
      'side_effects_none',
      { side_effects_none: ['payments'] },
      { side_effects_none: ['payments', 'fs.read'] },
      newTool({ side_effects: ['fs.read'] }),
    ],
    ['effects', { effects: { destructive: false, filesystem: { write: false } } }, { effects: { network: true } }],
    ['trust_min', { trust_min: 'org' }, { trust_min: 'vendor' }, newTool({ trust: 'org' })],
    ['mode', { mode: 'execution' }, { mode: ['planning'] }],
    ['actor', { actor: 'a*' }, { actor: 'bob' }],
    ['roles', { roles: ['admin', 'submit'] }, { roles: 'admin' }],
    ['tenant', { tenant: 'acme' }, { tenant: 'other' }],
    ['labels', { labels: { env: ['dev', 'test'] } }, { labels: { team: 'x' } }],
  ])('by %s takes what fits and nothing else', (_, fits, does_not, descriptor = newTool()) => {
    const given = { descriptor, labels: { env: 'dev' } };
    expect(matching(fits, given)).toBe(true);
    expect(matching(does_not, given)).toBe(false);
  });
});

describe('a condition', () => {
  const conditional = (condition: string) =>
    policy([allow, { id: 'big', effect: 'hold', match: { tool: 'cap:*' }, if: condition }]);
  test.each([
    ['inputs.amount > 100.0', { amount: 250 }, 'hold'],
    ['inputs.amount > 100', { amount: 100.5 }, 'hold'],
    ['inputs.amount > 100.0', { amount: 100 }, 'allow'],
    ["actor.roles.exists(r, r == 'submit') && tool.risk == 'LOW' && mode == 'execution'", {}, 'hold'],
    ['has(inputs.amount) && inputs.amount > 1', {}, 'allow'],
  ])('%s of %j: %s', (condition, inputs, effect) => {
    expect(decide(conditional(condition), { inputs }).effect).toBe(effect);
  });
  test('that cannot be evaluated denies, and names its rule', () => {
    expect(decide(conditional('inputs.amount > 100.0'))).toMatchObject({
      effect: 'deny',
      code: 'RULE_ERROR',
      rule_matched: 'big',
      reason: expect.stringContaining('there is no field amount'),
    });
  });
  test('that is neither true nor false denies', () => {
    expect(decide(conditional('inputs.amount'), { inputs: { amount: 3 } }).code).toBe('RULE_ERROR');
  });
});

describe('risk gates', () => {
  const high = newTool({ risk: 'HIGH' });
  const critical = newTool({ risk: 'CRITICAL' });
  const HASH = `sha256:${'a'.repeat(64)}`;
  test('a HIGH tool is held although a rule allows it', () => {
    expect(decide(policy([allow]), { descriptor: high })).toMatchObject({
      effect: 'hold',
      rule_matched: 'risk.HIGH',
      approvals: { required: 1, allow_self: false },
    });
  });
  test('a gate does not allow a call', () => {
    expect(decide(policy([]), { descriptor: high }).code).toBe('NO_RULE');
  });
  test('a gate in the document replaces the default', () => {
    const open = policy([allow], { risk: { HIGH: { effect: 'allow' } } });
    expect(decide(open, { descriptor: high }).effect).toBe('allow');
    const closed = policy([allow], { risk: { LOW: { effect: 'forbid' } } });
    expect(decide(closed)).toMatchObject({ code: 'RISK_FORBIDDEN', rule_matched: 'risk.LOW' });
  });
  test('a CRITICAL tool needs a frozen specification whose hash was approved, and an admin', () => {
    const approved = policy([allow], { approved_specs: [HASH] });
    const frozen = { descriptor: critical, spec_frozen: true, spec_hash: HASH };
    expect(decide(approved, { descriptor: critical }).code).toBe('SPEC_NOT_FROZEN');
    expect(decide(approved, { ...frozen, spec_hash: HASH.replaceAll('a', 'b') }).code).toBe('SPEC_HASH_MISMATCH');
    expect(decide(policy([allow]), frozen).code).toBe('SPEC_HASH_MISMATCH');
    expect(decide(approved, frozen)).toMatchObject({ effect: 'hold', approvals: { roles: ['admin'] } });
    expect(decide(policy([allow]), { ...frozen, facts: { approved_specs: [HASH] } }).effect).toBe('hold');
  });
  test('opening the gate of CRITICAL still requires a frozen specification', () => {
    const open = policy([allow], { risk: { CRITICAL: { effect: 'allow' } } });
    expect(decide(open, { descriptor: critical }).code).toBe('SPEC_NOT_FROZEN');
  });
});

describe('effects', () => {
  const with_effects = (effects: object) => newTool({ effects: { ...NO_EFFECTS, ...effects } });
  test.each([
    ['DESTRUCTIVE_BLOCKED', { destructive: 'forbid' }, with_effects({ destructive: true })],
    ['NON_REVERSIBLE_BLOCKED', { non_reversible: 'forbid' }, with_effects({ reversible: false })],
    ['BILLABLE_BLOCKED', { billable: 'forbid' }, with_effects({ billable: true })],
    ['NETWORK_BLOCKED', { network: 'forbid' }, with_effects({ network: true })],
    [
      'FILESYSTEM_WRITE_BLOCKED',
      { filesystem_write: 'forbid' },
      with_effects({ filesystem: { read: true, write: true, delete: false } }),
    ],
    [
      'FILESYSTEM_DELETE_BLOCKED',
      { filesystem_delete: 'forbid' },
      with_effects({ filesystem: { read: true, write: false, delete: true } }),
    ],
    ['INTERACTIVE_BLOCKED', { interactive: 'forbid' }, with_effects({ interactive: true })],
    ['TRUST_INSUFFICIENT', { trust_min: 'org' }, newTool({ trust: 'inferred' })],
    ['COST_EXCEEDED', { max_cost_units: 5 }, with_effects({ billable: true, cost_units: 6 })],
    ['COST_EXCEEDED', { max_cost_units: 5 }, with_effects({ billable: true })],
  ])('%s', (code, effects, descriptor) => {
    const gated = policy([allow], { effects });
    expect(decide(gated, { descriptor })).toMatchObject({ effect: 'deny', code });
    expect(decide(gated).allowed).toBe(true);
  });
  test('an effect can also require approval', () => {
    const gated = policy([allow], { effects: { destructive: 'hold' } });
    expect(decide(gated, { descriptor: with_effects({ destructive: true }) })).toMatchObject({
      effect: 'hold',
      rule_matched: 'effects.destructive',
    });
  });
  test('a rule that forbids an effect reports the code of the effect', () => {
    const forbids = policy([allow, { id: 'n', effect: 'forbid', match: { effects: { destructive: true } } }]);
    expect(decide(forbids, { descriptor: with_effects({ destructive: true }) })).toMatchObject({
      code: 'DESTRUCTIVE_BLOCKED',
      rule_matched: 'n',
    });
  });
  test('a rule that would allow except for trust is named in the denial', () => {
    const trusting = policy([{ ...allow, match: { tool: 'cap:*', trust_min: 'vendor' } }]);
    expect(decide(trusting, { descriptor: newTool({ trust: 'user' }) })).toMatchObject({
      code: 'TRUST_INSUFFICIENT',
      reason: 'no rule allows cap:test_math:add; a would, but its trust is user, below vendor',
    });
  });
});

describe('limits of a run', () => {
  test('a tool is called at most as often as allowed', () => {
    const limited = policy([allow], { max_calls_per_tool: 2 });
    expect(decide(limited, { facts: { calls_of_tool: 1 } }).allowed).toBe(true);
    expect(decide(limited, { facts: { calls_of_tool: 2 } })).toMatchObject({ rule_matched: 'max_calls_per_tool' });
  });
  test('a call gets the remaining time of its run', () => {
    const limited = policy([allow], { global_timeout_seconds: 10 });
    expect(decide(limited).limits.timeout_ms).toBe(10_000);
    expect(decide(limited, { facts: { run_elapsed_ms: 9000 } }).limits.timeout_ms).toBe(1000);
    expect(decide(limited, { facts: { run_elapsed_ms: 10_000 } })).toMatchObject({ code: 'RUN_TIMEOUT' });
  });
});

describe('explain', () => {
  test('lists every rule and why it matches or not', () => {
    const document = policy([
      allow,
      { id: 'others', effect: 'allow', match: { actor: 'bob' } },
      { id: 'large', effect: 'hold', if: 'inputs.n > 3' },
    ]);
    expect(compilePolicy(document).explain(newRequest({ inputs: { n: 1 } })).rules).toEqual([
      { id: 'a', matched: true, why: 'allowed by a' },
      { id: 'others', matched: false, why: 'the actor is ann, not bob' },
      { id: 'large', matched: false, why: 'its condition is false: inputs.n > 3' },
    ]);
  });
});

test('inputs are only read for tools whose decision depends on them', () => {
  const compiled = compilePolicy(
    policy([allow, { id: 'l', effect: 'hold', match: { tool: 'ext:*' }, if: 'inputs.n > 3' }], {
      tools: { 'fs.read': { allow_paths: ['./**'] } },
    }),
  );
  expect(compiled.readsInputs(newTool())).toBe(false);
  expect(compiled.readsInputs(newTool({ tool_id: 'ext:a:b' }))).toBe(true);
  expect(compiled.readsInputs(newTool({ tool_id: 'fs.read' }))).toBe(true);
});

describe('decisions about the same tool', () => {
  const descriptor = newTool();
  const large = { id: 'large', effect: 'allow', match: { tool: 'cap:*' }, if: 'inputs.n > 3', reason: 'it is large' };
  const compiled = compilePolicy(policy([large, allow]));
  const decideOn = (n: number) => compiled.decide(newRequest({ descriptor, inputs: { n } }));

  test('are one object while they are equal', () => {
    expect(decideOn(1)).toBe(decideOn(2));
  });
  test('are different objects if another rule matched', () => {
    expect(decideOn(1)).not.toBe(decideOn(4));
    expect(decideOn(4)).toMatchObject({ rule_matched: 'large', reason: 'it is large' });
    expect(decideOn(1)).toMatchObject({ rule_matched: 'a', reason: 'allowed by a' });
  });
  test('are different objects if the call asks for another timeout', () => {
    const brief = compiled.decide(newRequest({ descriptor, inputs: { n: 1 }, timeout_ms: 5 }));
    expect(brief.limits.timeout_ms).toBe(5);
    expect(decideOn(1).limits.timeout_ms).not.toBe(5);
  });
});
