import {
  ALL_EFFECTS,
  type Descriptor,
  type JsonObject,
  type PolicyDocument,
  type ToolConstraints,
} from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { DEFAULT_POLICY } from './default-policy.js';
import { parsePolicy } from './parse-policy.js';
import { suggestFor } from './suggest/suggest-for.js';
import { compileOpen } from './testing/compile-open.js';
import { newRequest, newTool } from './testing/new-request.js';

const decide = (tool: Partial<Descriptor>, inputs: JsonObject = {}) =>
  compileOpen(DEFAULT_POLICY).decide(newRequest({ descriptor: newTool(tool), inputs }));

describe('the first policy', () => {
  test.each([
    'cap:noop:noop',
    'cap:current_time:get_current_time',
    'cap:test_math:divide',
    'cap:test_weather:get_weather',
    'cap:stateless_todo_list:write_todos',
    'cap:research:write_scratchpad',
    'cap:session_file_system:write_file',
    'ext:text.tools:wc',
    'analyze.schema',
  ])('allows %s', (tool_id) => {
    expect(decide({ tool_id }).effect).toBe('allow');
  });
  test('holds code that is run in the sandbox', () => {
    expect(decide({ tool_id: 'cap:sandbox:execute_code', runner: 'exec', risk: 'HIGH' }).effect).toBe('hold');
  });
  test.each([
    { tool_id: 'shell.run', runner: 'exec', risk: 'HIGH' },
    { tool_id: 'cap:web_fetch:web_fetch', runner: 'api', risk: 'MED' },
    { tool_id: 'fs.write', runner: 'file', risk: 'HIGH' },
    { tool_id: 'atip:gh:repo.delete', runner: 'exec', risk: 'CRITICAL', effects: ALL_EFFECTS },
    { tool_id: 'mcp:files:read', runner: 'mcp', risk: 'MED' },
    { tool_id: 'ext:text.tools:rm', runner: 'exec', risk: 'HIGH' },
  ] as const)('denies $tool_id', (tool) => {
    expect(decide(tool).effect).toBe('deny');
  });
});

/** The YAML of a suggestion, which is between its first line and the one that says how to put it in force. */
function suggested(document: PolicyDocument, tool: Partial<Descriptor>, inputs: JsonObject): PolicyDocument {
  const descriptor = newTool(tool);
  const decision = compileOpen(document).decide(newRequest({ descriptor, inputs }));
  const [, ...lines] = suggestFor({ descriptor, inputs, decision })?.split('\n') ?? [];
  return parsePolicy(lines.slice(0, -1).join('\n'));
}

describe('what is suggested for a denial', () => {
  test.each([
    [{ tool_id: 'shell.run', runner: 'exec', risk: 'HIGH' }, { cmd: ['git', 'status'] }],
    [{ tool_id: 'fs.read', runner: 'file', risk: 'MED' }, { path: './a.txt' }],
    [{ tool_id: 'http.get', runner: 'api', risk: 'MED' }, { url: 'https://example.org/x' }],
    [{ tool_id: 'cap:web_fetch:web_fetch', runner: 'api', risk: 'MED' }, { url: 'https://example.org/x' }],
    [{ tool_id: 'http.get', runner: 'api', risk: 'MED' }, { url: 'http://127.0.0.1:8080/x' }],
    [{ tool_id: 'mcp:we"ird:to ol', runner: 'mcp', risk: 'MED' }, {}],
    [{ tool_id: 'atip:gh:pr.list', runner: 'exec', risk: 'MED', effects: ALL_EFFECTS }, {}],
  ] as const)('is YAML that allows it: %j', (tool, inputs) => {
    const given = JSON.parse(JSON.stringify(inputs));
    const added = suggested(DEFAULT_POLICY, tool, given);
    const policy = { ...DEFAULT_POLICY, ...added, rules: [...(DEFAULT_POLICY.rules ?? []), ...(added.rules ?? [])] };
    const request = newRequest({ descriptor: newTool(tool), inputs: given });
    expect(compileOpen(policy).decide(request).effect).toBe('allow');
  });
  test.each<[Partial<Descriptor>, JsonObject, ToolConstraints]>([
    [{ tool_id: 'shell.run', runner: 'exec', risk: 'HIGH' }, { cmd: ['jq', '.'] }, { allow_executables: ['git'] }],
    [{ tool_id: 'fs.read', runner: 'file' }, { path: 'a/b.txt' }, { allow_paths: ['./docs/**'] }],
    [{ tool_id: 'fs.read', runner: 'file' }, { path: '.profile' }, { allow_paths: ['./**'], allow_hidden: false }],
    [{ tool_id: 'http.get', runner: 'api' }, { url: 'http://10.0.0.1/' }, { allow_domains: ['*'] }],
    [{ tool_id: 'http.get', runner: 'api' }, { url: 'https://b.org/' }, { allow_domains: ['a.org'] }],
  ])('of %j is what its entry lacks', (tool, inputs, constraints) => {
    const tool_id = tool.tool_id ?? '';
    const added = suggested({ tools: { [tool_id]: constraints } }, tool, inputs).tools?.[tool_id];
    const policy = compileOpen({ tools: { [tool_id]: { ...constraints, ...added } } });
    expect(policy.decide(newRequest({ descriptor: newTool(tool), inputs })).effect).toBe('allow');
  });
  test('for a program that destroys things is this command line alone, and a person who agrees', () => {
    const tool = { tool_id: 'shell.run', runner: 'exec', risk: 'HIGH' } as const;
    const added = suggested(DEFAULT_POLICY, tool, { cmd: ['rm', '-r', './build'] });
    const policy = compileOpen({ ...DEFAULT_POLICY, ...added });
    const effectOf = (...cmd: string[]) =>
      policy.decide(newRequest({ descriptor: newTool(tool), inputs: { cmd } })).effect;
    expect([effectOf('rm', '-r', './build'), effectOf('rm', '-r', '/'), effectOf('rm', './build', 'other')]).toEqual([
      'hold',
      'deny',
      'deny',
    ]);
  });
  test('opens no network to a program of an extension that asks for none', () => {
    const binding = {
      ...{ kind: 'command', extension_id: 'x', tools_hash: null, executable: 'wc', action: 'wc', argv: [] },
      ...{ output: 'text', env: [], permissions: ['exec'] },
    } satisfies Descriptor['binding'];
    const added = suggested(DEFAULT_POLICY, { tool_id: 'ext:x:wc', runner: 'exec', binding, effects: ALL_EFFECTS }, {});
    expect(added.limits).toBeUndefined();
  });
  test('is there for inputs that are too deep to be looked at', () => {
    const inputs: JsonObject = JSON.parse(`${'{"url":'.repeat(100)}"https://a.org"${'}'.repeat(100)}`);
    const tool = { tool_id: 'ext:deep:x' };
    expect(suggested(DEFAULT_POLICY, tool, inputs).rules).toHaveLength(1);
  });
  test('there is one for every code, and none for what is allowed', () => {
    const decision = decide({ tool_id: 'ext:text.tools:rm', risk: 'HIGH' });
    expect(decision.reason).toContain('example-extension would, but its risk is HIGH, above LOW');
    const suggestion = (code: string | null, rule_matched: string | null) =>
      suggestFor({ descriptor: newTool(), inputs: {}, decision: { code, rule_matched } });
    expect(suggestion('FORBIDDEN', 'never')).toContain('rule never');
    expect(suggestion('DESTRUCTIVE_BLOCKED', 'effects.destructive')).toContain('Set effects.destructive');
    expect(suggestion(null, null)).toBeNull();
    const program = newTool({
      runner: 'exec',
      binding: { kind: 'atip', executable: 'gh', path: [], parameters: [] },
      effects: ALL_EFFECTS,
    });
    const allowed = compileOpen({ rules: [{ id: 'a', effect: 'allow' }] }).decide(newRequest({ descriptor: program }));
    expect(suggestFor({ descriptor: program, inputs: {}, decision: allowed })).toContain('it reaches no others');
  });
});
