import { Failure, PolicyDocument, Risk, RunnerType, SideEffect, Trust } from '@capstan/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compilePolicy } from './compile-policy.js';
import { parsePolicy } from './parse-policy.js';
import type { Request } from './request.js';
import { suggestFor } from './suggest/suggest-for.js';
import { newRequest, newTool } from './testing/new-request.js';

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const glob = fc.constantFrom('*', 'cap:*', 'cap:test_math:*', '*:add', 'ext:?:x', 'nothing', '**');
const path = fc.constantFrom('./**', '**/.env', '/tmp/**', 'a/{b,c}/*', '*', '{', '..');
const number = fc.integer({ min: 1, max: 1_000_000 });
const condition = fc.constantFrom(
  'true',
  'inputs.a > 3',
  "labels.env == 'prod'",
  'inputs.exists(k, k == "a")',
  'inputs.a',
  'size(inputs.list) > 2',
  'actor.name.matches("^a+$")',
  'tool.effects.destructive',
  '1 / 0 == 1',
);
const approvals = fc.record(
  {
    required: fc.integer({ min: 1, max: 5 }),
    roles: fc.subarray(['admin', 'operate'], { minLength: 1 }),
    expires_in_ms: number,
  },
  { requiredKeys: [] },
);
const match = fc.record(
  {
    tool: fc.oneof(glob, fc.array(glob, { minLength: 1, maxLength: 3 })),
    runner: fc.constantFrom(...RunnerType.options),
    origin: glob,
    risk_max: fc.constantFrom(...Risk.options),
    side_effects_none: fc.subarray([...SideEffect.options], { minLength: 1, maxLength: 3 }),
    effects: fc.record({ destructive: fc.boolean(), network: fc.boolean() }, { requiredKeys: [] }),
    trust_min: fc.constantFrom(...Trust.options),
    mode: fc.constantFrom('execution', 'planning'),
    actor: glob,
    roles: fc.constantFrom('admin', 'submit'),
    labels: fc.dictionary(fc.constantFrom('env', 'team', '__proto__'), fc.constantFrom('prod', 'dev')),
  },
  { requiredKeys: [] },
);
const effect = fc.constantFrom('allow', 'allow', 'hold', 'forbid');
const rule = fc.oneof(
  fc.record({ effect, match, if: maybe(condition), reason: maybe(fc.string()) }),
  fc.record({ effect: fc.constant('hold'), match, if: maybe(condition), approvals }),
);
const constraints = fc.record(
  {
    allow_paths: fc.array(path, { maxLength: 3 }),
    deny_paths: fc.array(path, { maxLength: 3 }),
    allow_domains: fc.array(fc.constantFrom('*', '*.a.org', 'a.org'), { maxLength: 2 }),
    allow_executables: fc.array(fc.constantFrom('git', 'ls'), { maxLength: 2 }),
    deny_tokens: fc.array(fc.constantFrom('sudo', ' '), { maxLength: 2 }),
    max_size_bytes: number,
    timeout_seconds: number,
  },
  { requiredKeys: [] },
);
const document = fc
  .record(
    {
      tools: fc.dictionary(fc.constantFrom('fs.read', 'shell_run', 'cap:*', 'cap:test_math:add'), constraints),
      rules: fc.array(rule, { maxLength: 6 }),
      limits: fc.array(fc.record({ match, timeout_ms: number, network: fc.array(glob) }, { requiredKeys: [] })),
      risk: fc.dictionary(fc.constantFrom(...Risk.options), fc.record({ effect, require_spec_frozen: fc.boolean() })),
      effects: fc.record({ destructive: effect, trust_min: fc.constantFrom(...Trust.options) }, { requiredKeys: [] }),
      global_timeout_seconds: number,
      max_calls_per_tool: number,
    },
    { requiredKeys: [] },
  )
  .map((made) => ({ ...made, rules: made.rules?.map((each, at) => ({ ...each, id: `r${at}` })) }));

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('../../etc', 'https://a.org', 'http://[::1]', 'a\0b', '\ud800', './.env', 'git'),
);
const inputs = fc.oneof(
  fc.dictionary(
    fc.constantFrom('path', 'url', 'cmd', 'content', 'a', 'list', 'method'),
    fc.oneof(text, fc.jsonValue(), fc.array(text)),
  ),
  fc.dictionary(text, fc.jsonValue()),
);
const request: fc.Arbitrary<Request> = fc
  .record({
    tool_id: fc.constantFrom('fs.read', 'shell.run', 'http.get', 'cap:test_math:add', 'ext:a:x'),
    runner: fc.constantFrom(...RunnerType.options),
    risk: fc.constantFrom(...Risk.options),
    trust: fc.constantFrom(...Trust.options),
    inputs,
    mode: fc.constantFrom('execution' as const, 'planning' as const),
    labels: fc.dictionary(fc.constantFrom('env', 'team'), fc.constantFrom('prod', 'dev')),
    timeout_ms: maybe(fc.integer({ min: 1 })),
    calls_of_tool: maybe(fc.nat()),
  })
  .map(({ tool_id, runner, risk, trust, inputs: given, calls_of_tool, ...rest }) =>
    newRequest({
      ...rest,
      inputs: JSON.parse(JSON.stringify(given)),
      facts: { calls_of_tool },
      descriptor: newTool({ tool_id, runner, risk, trust }),
    }),
  );

/** Null for a document that is refused, which is the only thing that may be thrown. */
const parsed = (source: unknown): PolicyDocument | null => {
  try {
    return parsePolicy(source);
  } catch (error) {
    expect(error).toBeInstanceOf(Failure);
    return null;
  }
};
const STRENGTH = { deny: 0, hold: 1, allow: 2 } as const;

test('no document and no text makes parsing throw anything but a refusal', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.jsonValue(), fc.anything()), (source) => void parsed(source)),
    {
      numRuns: 300,
    },
  );
});

test('no accepted document and no call makes a decision throw, and every decision can be stored', () => {
  let taken = 0;
  fc.assert(
    fc.property(document, request, (source, call) => {
      const policy = parsed(JSON.parse(JSON.stringify(source)));
      if (!policy) return;
      taken += 1;
      const compiled = compilePolicy(policy);
      const decision = compiled.decide(call);
      expect(decision.allowed).toBe(decision.effect === 'allow');
      const stored = JSON.stringify(decision);
      expect(stored).not.toMatch(/(^|[^\\])(\\\\)*\\u(0000|d[89a-f])/);
      expect(decision.limits.timeout_ms).toBeGreaterThan(0);
      expect(compiled.explain(call)).toMatchObject({ effect: decision.effect, reason: decision.reason });
      expect(compiled.decide(call)).toEqual(decision);
      if (decision.effect === 'deny') expect(suggestFor({ ...call, decision })).toMatch(/\.$/);
    }),
    { numRuns: 500 },
  );
  expect(taken).toBeGreaterThan(100);
});

test('an unchecked document does not make a decision throw', () => {
  fc.assert(
    fc.property(document, request, (source, call) => {
      const shape = PolicyDocument.safeParse(JSON.parse(JSON.stringify(source)));
      if (shape.success) compilePolicy(shape.data).decide(call);
    }),
    { numRuns: 200 },
  );
});

test('adding a forbid rule never allows more, and adding a hold rule never lets more calls run', () => {
  fc.assert(
    fc.property(document, rule, fc.boolean(), request, (source, { match: when, if: only }, forbids, call) => {
      const added = { id: 'added', effect: forbids ? 'forbid' : 'hold', match: when, ...(only ? { if: only } : {}) };
      const policy = parsed(JSON.parse(JSON.stringify({ ...source, rules: source.rules ?? [] })));
      const stricter = policy && parsed({ ...policy, rules: [...(policy.rules ?? []), added] });
      if (!policy || !stricter) return;
      const before = compilePolicy(policy).decide(call);
      const after = compilePolicy(stricter).decide(call);
      if (forbids) expect(STRENGTH[after.effect]).toBeLessThanOrEqual(STRENGTH[before.effect]);
      else expect(after.allowed && !before.allowed).toBe(false);
    }),
    { numRuns: 300 },
  );
});

test('the order of rules does not matter', () => {
  fc.assert(
    fc.property(document, request, (source, call) => {
      const policy = parsed(JSON.parse(JSON.stringify(source)));
      if (!policy?.rules) return;
      const turned = { ...policy, rules: [...policy.rules].reverse() };
      expect(compilePolicy(turned).decide(call).effect).toBe(compilePolicy(policy).decide(call).effect);
    }),
    { numRuns: 200 },
  );
});

test('limits only restrict', () => {
  fc.assert(
    fc.property(request, fc.integer({ min: 1, max: 1_000_000 }), (call, timeout_ms) => {
      const open = { rules: [{ id: 'all', effect: 'allow' as const }] };
      const [before, after] = [open, { ...open, limits: [{ timeout_ms }] }].map(
        (each) => compilePolicy(each).decide(call).limits.timeout_ms,
      );
      expect(after).toBe(Math.min(before ?? 0, timeout_ms));
    }),
  );
});
