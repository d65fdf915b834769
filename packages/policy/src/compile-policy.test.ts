import { type Descriptor, NO_EFFECTS, type PolicyDocument } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { compilePolicy } from './compile-policy.js';
import { parsePolicy } from './parse-policy.js';

const tool = (over: Partial<Descriptor> = {}): Descriptor => ({
  tool_id: 'cap:test_math:add',
  name: 'add',
  description: '',
  source: 'capability',
  runner: 'builtin',
  input_schema: {},
  risk: 'LOW',
  side_effects: [],
  effects: NO_EFFECTS,
  origin: 'test_math',
  binding: { kind: 'native' },
  trust: 'native',
  inferred: [],
  ...over,
});
const policy = (rules: unknown[], limits: unknown[] = []): PolicyDocument =>
  parsePolicy({ version: '1.0', boundary: 'deny_by_default', rules, limits });
const decide = (document: PolicyDocument, descriptor = tool(), mode: 'execution' | 'planning' = 'execution') =>
  compilePolicy(document).decide({ descriptor, mode });

const allow = { id: 'a', effect: 'allow', match: { tool: 'cap:*' } };
const hold = { id: 'h', effect: 'hold', match: { tool: 'cap:test_math:*' } };
const forbid = { id: 'f', effect: 'forbid', match: { runner: 'builtin' } };

describe('the order of strength', () => {
  test('no rule denies', () => {
    expect(decide(policy([]))).toMatchObject({ effect: 'deny', allowed: false, code: 'NO_RULE' });
  });
  test('an allow that matches allows, and says which it was', () => {
    expect(decide(policy([allow]))).toMatchObject({ effect: 'allow', allowed: true, rule_matched: 'a' });
  });
  test('an allow for other tools does not', () => {
    expect(decide(policy([allow]), tool({ tool_id: 'ext:cap:x' })).effect).toBe('deny');
  });
  test('a hold beats an allow, in any order', () => {
    expect(decide(policy([allow, hold])).effect).toBe('hold');
    expect(decide(policy([hold, allow])).effect).toBe('hold');
  });
  test('a forbid beats both', () => {
    expect(decide(policy([allow, hold, forbid]))).toMatchObject({ effect: 'deny', rule_matched: 'f' });
  });
});

test('planning mode denies a tool with side effects', () => {
  expect(decide(policy([allow]), tool({ side_effects: ['fs.write'] }), 'planning').code).toBe('PLANNING_MODE');
  expect(decide(policy([allow]), tool({ side_effects: ['fs.read'] }), 'planning').allowed).toBe(true);
});

test('a tool above risk_max does not match', () => {
  const cautious = policy([{ ...allow, match: { tool: 'cap:*', risk_max: 'MED' } }]);
  expect(decide(cautious, tool({ risk: 'MED' })).allowed).toBe(true);
  expect(decide(cautious, tool({ risk: 'HIGH' })).allowed).toBe(false);
});

test('the smallest of all limits that apply wins', () => {
  const limited = policy(
    [allow],
    [{ timeout_ms: 9000 }, { match: { runner: 'builtin' }, timeout_ms: 5000 }, { timeout_ms: 7000 }],
  );
  expect(decide(limited).limits.timeout_ms).toBe(5000);
});

test.each([
  ['an unknown key', { boundary: 'deny_by_default', ruls: [] }, 'ruls'],
  ['an open boundary', { boundary: 'allow' }, 'boundary'],
  ['an unknown key of a rule', { boundary: 'deny_by_default', rules: [{ ...allow, wen: 1 }] }, 'wen'],
])('%s is refused at load, and named', (_, document, named) => {
  expect(() => parsePolicy(document)).toThrow(named);
});

test('a document is read from YAML', () => {
  expect(parsePolicy('boundary: deny_by_default\nrules: []').rules).toEqual([]);
});
