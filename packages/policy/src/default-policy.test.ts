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

describe('the default policy', () => {
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
  test('holds code that runs in the sandbox', () => {
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

const SHELL = { tool_id: 'shell.run', runner: 'exec', risk: 'HIGH' } as const;
/** Entries that allow something, and none of the calls below. */
const NARROW: Record<string, ToolConstraints> = {
  'shell.run': { allow_executables: ['git'] },
  'api.call': { allow_domains: ['a.org'], allow_methods: ['GET'] },
  'http.get': { allow_domains: ['a.org'] },
  'fs.read': { allow_paths: ['./docs/**'] },
};

describe('the suggestion for a denial', () => {
  test.each([
    [{ tool_id: 'shell.run', runner: 'exec', risk: 'HIGH' }, { cmd: ['git', 'status'] }],
    [SHELL, { cmd: ['git', 'push', 'origin', 'main'] }],
    [SHELL, { cmd: ['python3', 'report.py'] }],
    [{ tool_id: 'fs.read', runner: 'file', risk: 'MED' }, { path: 'docs/.drafts/a.txt' }],
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
  test.each<[string, Partial<Descriptor>, JsonObject, RegExp]>([
    ['rm -rf /', SHELL, { cmd: ['rm', '-rf', '/'] }, /^This command destroys things.*delete_file/],
    ['rm by its path', SHELL, { cmd: ['/bin/rm', 'x'] }, /^This command destroys things/],
    ['rm in a shell', SHELL, { cmd: ['sh', '-c', 'cd /; rm -rf .'] }, /^This command destroys things/],
    ['find -delete', SHELL, { cmd: ['find', '.', '-delete'] }, /^This command destroys things/],
    ['DELETE', { tool_id: 'api.call', runner: 'api' }, { method: 'DELETE', url: 'https://a.org' }, /^DELETE would be/],
    ['metadata', { tool_id: 'http.get', runner: 'api' }, { url: 'http://169.254.169.254/' }, /^No policy opens 169/],
    ['a file above', { tool_id: 'fs.read', runner: 'file' }, { path: '../a.txt' }, /no policy opens files/],
    ['a shell', SHELL, { cmd: ['bash', '-c', 'ls'] }, /^Call the program itself .* instead of bash/],
    ['sudo', SHELL, { cmd: ['sudo', 'ls'] }, /^Call the program itself .* instead of sudo/],
    ['a file outside', { tool_id: 'fs.read', runner: 'file' }, { path: '/etc/passwd' }, /no policy opens files/],
  ])('hands out no permission for %s, and says what to do instead', (_, tool, inputs, says) => {
    const descriptor = newTool(tool);
    for (const policy of [DEFAULT_POLICY, { tools: NARROW }]) {
      const decision = compileOpen(policy).decide(newRequest({ descriptor, inputs }));
      const suggestion = suggestFor({ descriptor, inputs, decision });
      expect(suggestion).toMatch(says);
      expect(suggestion).not.toContain('tools:');
    }
  });
  test('for a destructive tool is a rule that holds it', () => {
    const tool = { tool_id: 'mcp:disk:format', runner: 'mcp', risk: 'HIGH', effects: ALL_EFFECTS } as const;
    const { rules = [] } = suggested(DEFAULT_POLICY, tool, {});
    expect(rules).toMatchObject([{ id: 'hold-mcp-disk-format', effect: 'hold' }]);
  });
  test('does not open the network for a program of an extension that requests none', () => {
    const binding = {
      ...{ kind: 'command', extension_id: 'x', tools_hash: null, executable: 'wc', action: 'wc', argv: [] },
      ...{ output: 'text', env: [], permissions: ['exec'] },
    } satisfies Descriptor['binding'];
    const added = suggested(DEFAULT_POLICY, { tool_id: 'ext:x:wc', runner: 'exec', binding, effects: ALL_EFFECTS }, {});
    expect(added.limits).toBeUndefined();
  });
  test('exists for inputs that are too deep to check', () => {
    const inputs: JsonObject = JSON.parse(`${'{"url":'.repeat(100)}"https://a.org"${'}'.repeat(100)}`);
    const tool = { tool_id: 'ext:deep:x' };
    expect(suggested(DEFAULT_POLICY, tool, inputs).rules).toHaveLength(1);
  });
  test('exists for every code, and not for allowed calls', () => {
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
    expect(suggestFor({ descriptor: program, inputs: {}, decision: allowed })).toMatch(
      /^It runs without a network\. Only if it needs one: .*it reaches no others\.$/s,
    );
  });
});
