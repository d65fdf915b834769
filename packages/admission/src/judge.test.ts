import { catalogOf, toEntry } from '@capstan/catalog';
import { hashJson } from '@capstan/integrity';
import type { Request } from '@capstan/policy';
import { expect, test } from 'vitest';
import { compileOpen } from '../../policy/src/testing/compile-open.js';
import { newTool } from '../../policy/src/testing/new-request.js';
import { type JudgedCall, judge } from './admit.js';

const greet = newTool({
  tool_id: 'atip:greeter:greet',
  source: 'atip',
  origin: 'greeter',
  runner: 'exec',
  binding: {
    kind: 'atip',
    executable: 'greeter',
    path: ['greet'],
    parameters: [{ name: 'times', type: 'integer', variadic: false, flags: ['--times'] }],
  },
  input_schema: { properties: { times: { type: 'integer' } } },
});
const catalog = catalogOf([toEntry(greet)]);
const rules = { approvedSpecs: (tenant: string) => (tenant === 'acme' ? ['sha256:approved'] : []) };
const call: JudgedCall = {
  tenant: 'acme',
  actor: 'ann',
  roles: ['submit'],
  tool_id: greet.tool_id,
  inputs: { times: '2' },
  mode: 'execution',
  labels: {},
  session_id: null,
};

/** Judges a call under a policy that allows everything, and returns the requests to the policy. */
function askedOf(given: Partial<JudgedCall> = {}, facts?: { calls_of_tool: number }) {
  const asked: Request[] = [];
  const policy = compileOpen({ rules: [{ id: 'all', effect: 'allow', match: { tool: '*' } }] });
  const decide = (request: Request) => {
    asked.push(request);
    return policy.decide(request);
  };
  const judgement = judge({ catalog, rules }, { decide }, { ...call, ...given }, facts && (() => facts));
  return { judgement, request: asked[0] };
}

test('the policy sees the inputs as the tool gets them, and the hash covers the inputs as sent', () => {
  const { judgement, request } = askedOf();
  expect(request?.inputs).toEqual({ times: 2 });
  expect(judgement.input_hash).toBe(hashJson({ times: '2' }));
});

test('the policy sees the caller with tenant and roles', () => {
  expect(askedOf().request?.actor).toEqual({ name: 'ann', roles: ['submit'], tenant: 'acme' });
});

test('the policy sees the approved specifications of the tenant if the call names one, besides the other facts', () => {
  const facts = { calls_of_tool: 4 };
  expect(askedOf({ spec_hash: 'sha256:mine' }, facts).request?.facts).toEqual({
    calls_of_tool: 4,
    approved_specs: ['sha256:approved'],
  });
  expect(askedOf({}, facts).request?.facts).toEqual(facts);
});

test('a tool is found by an alias', () => {
  const { judgement } = askedOf({ tool_id: 'atip:greeter:/greet' });
  expect(judgement.entry.descriptor.tool_id).toBe(greet.tool_id);
});
