import { catalogOf, toEntry } from '@capstan/catalog';
import type { PolicyDocument } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { expect, test } from 'vitest';
import { compileOpen } from '../../policy/src/testing/compile-open.js';
import { newTool } from '../../policy/src/testing/new-request.js';
import type { JudgedCall } from './admit.js';
import { proposeRelease } from './propose-release.js';

const tool = newTool({ input_schema: { properties: { a: { type: 'number' } } } });
const snapshots = { catalog: catalogOf([toEntry(tool)]), rules: { approvedSpecs: () => [] } };
const held: JudgedCall = {
  tenant: 'acme',
  actor: 'ann',
  roles: ['submit'],
  tool_id: tool.tool_id,
  inputs: { a: 1 },
  mode: 'execution',
  labels: {},
  session_id: null,
};
const POLICY: PolicyDocument = {
  rules: [
    { id: 'ask', effect: 'hold', match: { tool: '*' } },
    { id: 'never', effect: 'forbid', match: { tool: '*' }, if: 'inputs.a > 9', reason: 'too large' },
  ],
};
const policy = compileOpen(POLICY);

test('the release of a held call is proposed with its current tool, inputs and policy', () => {
  expect(proposeRelease(snapshots, held, policy)).toMatchObject({
    ok: true,
    proposal: {
      inputs: { a: 1 },
      input_hash: hashJson({ a: 1 }),
      descriptor_hash: hashJson(tool),
      policy_hash: policy.policy_hash,
      decision: { effect: 'hold' },
      runner: 'builtin',
      idempotent: true,
    },
    descriptor: tool,
  });
});

test('a held call with edited inputs is judged and hashed with those', () => {
  const proposed = proposeRelease(snapshots, held, policy, { a: 2 });
  expect(proposed).toMatchObject({ ok: true, proposal: { inputs: { a: 2 }, input_hash: hashJson({ a: 2 }) } });
  expect(proposeRelease(snapshots, held, policy, { a: 10 })).toMatchObject({
    ok: false,
    kind: 'POLICY_DENIED',
    why: 'too large',
    decision: { effect: 'deny' },
  });
});

test('a held call whose tool is gone or whose new inputs are invalid cannot be released, and the reason is given', () => {
  const gone = { ...held, tool_id: 'cap:bank:pay' };
  expect(proposeRelease(snapshots, gone, policy)).toMatchObject({ ok: false, kind: 'UNKNOWN_TOOL' });
  const wrong = proposeRelease(snapshots, held, policy, { a: 'one' });
  expect(wrong).toMatchObject({ ok: false, kind: 'INVALID_INPUTS', why: expect.stringContaining('inputs.a') });
});

test('an error that is not a `Failure` is thrown', () => {
  const decide = () => {
    throw new TypeError('broken');
  };
  expect(() => proposeRelease(snapshots, held, { decide })).toThrow(TypeError);
});
