import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { ALL_EFFECTS, type Descriptor, type JsonObject, NO_EFFECTS } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { compilePolicy } from './compile-policy.js';
import { parsePolicy } from './parse-policy.js';
import { newRequest, newTool } from './testing/new-request.js';

const corpus = new URL('../../../../shared/corpora/capsule/', import.meta.url);
const present = existsSync(corpus);
const read = (path: string) => readFileSync(new URL(path, corpus), 'utf8');

const TOOLS: Record<string, Descriptor> = Object.fromEntries(
  [
    newTool({ tool_id: 'fs.read', runner: 'file', risk: 'MED', side_effects: ['fs.read'] }),
    newTool({ tool_id: 'fs.write', runner: 'file', risk: 'HIGH', side_effects: ['fs.write'] }),
    newTool({ tool_id: 'http.get', runner: 'api', risk: 'MED', effects: { ...NO_EFFECTS, network: true } }),
    newTool({ tool_id: 'shell.run', runner: 'exec', risk: 'HIGH', effects: ALL_EFFECTS }),
  ].map((tool) => [tool.tool_id, tool]),
);

type Call = { tool: string; args: JsonObject };
const stepsOf = (plan: string): Call[] => parse(read(`plans/${plan}.yaml`)).steps;

const policyOf = (name: string) => compilePolicy(parsePolicy(read(`policies/${name}.yaml`)));
const verdicts = (policy: string, calls: Call[]) => {
  const compiled = policyOf(policy);
  return calls.map(({ tool, args }) =>
    compiled.decide(newRequest({ descriptor: TOOLS[tool] ?? newTool(), inputs: args })),
  );
};

const fs = (path: string): Call => ({ tool: 'fs.read', args: { path } });
const write = (path: string, content = 'x'): Call => ({ tool: 'fs.write', args: { path, content } });
const http = (url: string): Call => ({ tool: 'http.get', args: { url } });
const shell = (...cmd: string[]): Call => ({ tool: 'shell.run', args: { cmd } });

describe.skipIf(!present)('the policies of Capsule (NOT TESTED where ../shared/corpora is absent)', () => {
  test.each(present ? readdirSync(new URL('policies', corpus)) : [])('%s loads unchanged', (file) => {
    const compiled = compilePolicy(parsePolicy(read(`policies/${file}`)));
    expect(compiled.policy_hash).toMatch(/^sha256:/);
  });

  test.each([
    ['demo_all', 'demo_all_tools', [true, true, true, true]],
    ['workspace', 'create_notes', [true, true, true, true]],
    ['workspace', 'copy_file', [true, true]],
    ['workspace', 'simple_read', [true]],
    ['workspace', 'network_fetch', [false, false]],
    ['workspace', 'git_status', [false, false, false]],
    ['git_workflow', 'git_status', [true, true, true]],
    ['git_workflow', 'fetch_api', [false]],
    ['git_workflow', 'read_project_files', [true, true, true]],
    ['api_access', 'fetch_api', [true]],
    ['api_access', 'network_fetch', [true, false]],
    ['api_access', 'create_notes', [false, false, false, true]],
    ['api_access', 'git_status', [false, false, false]],
    ['permissive', 'fetch_api', [true]],
    ['permissive', 'git_status', [true, true, true]],
    ['permissive', 'create_notes', [false, false, false, true]],
    ['development', 'network_fetch', [true, false]],
    ['development', 'git_status', [true, true, true]],
  ])('under %s the plan %s: %j', (policy, plan, allowed) => {
    expect(verdicts(policy, stepsOf(plan)).map((decision) => decision.allowed)).toEqual(allowed);
  });

  test.each<[string, Call, string]>([
    ['api_access', fs('./.env'), 'allow_hidden=false'],
    ['api_access', write('./a.txt'), 'allow_paths=[]'],
    ['api_access', shell('ls'), 'allow_executables=[]'],
    ['api_access', http('https://example.com'), 'allow_domains'],
    ['api_access', http('http://127.0.0.1'), 'allow_domains'],
    ['workspace', http('https://api.github.com'), 'max_response_bytes'],
    ['workspace', write('./examples/workspace/big.txt', 'x'.repeat(102_401)), 'max_size_bytes'],
    ['git_workflow', fs('./.gitignore'), 'tools[fs.read]'],
    ['git_workflow', fs('./.git/objects/ab/cd'), 'deny_paths[./.git/objects/**]'],
    ['git_workflow', fs('sub/.env'), 'deny_paths[**/.env]'],
    ['git_workflow', fs('a/secrets/key'), 'deny_paths[**/secrets/**]'],
    ['git_workflow', write('node_modules/a.js'), 'deny_paths[**/node_modules/**]'],
    ['git_workflow', shell('git', 'push', '--force'), 'deny_tokens[--force]'],
    ['git_workflow', shell('git', 'reset', '--hard'), 'deny_tokens[reset --hard]'],
    ['git_workflow', http('https://api.github.com'), 'allow_domains=[]'],
    ['permissive', fs('/tmp/x/credentials.json'), 'deny_paths[**/credentials*]'],
    ['permissive', fs('/tmp/notes.txt'), 'tools[fs.read]'],
    ['permissive', fs('/etc/passwd'), 'allow_paths'],
    ['permissive', write('./output/a.txt'), 'tools[fs.write]'],
    ['permissive', shell('echo', 'chmod 777 x'), 'deny_tokens[chmod 777]'],
    ['permissive', shell('bash', '-c', 'id'), 'allow_executables'],
    ['development', fs('node_modules/x/index.js'), 'deny_paths[**/node_modules/**]'],
    ['demo_all', fs('../outside'), 'path_traversal'],
    ['demo_all', shell('echo', 'rm'), 'deny_tokens[rm]'],
  ])('under %s %j is decided by %s', (policy, call, rule) => {
    expect(verdicts(policy, [call]).map(({ rule_matched }) => rule_matched)).toEqual([rule]);
  });

  test('their limits apply to the calls they allow', () => {
    const [read, , get, run] = verdicts('permissive', [
      fs('a'),
      write('output/a'),
      http('https://httpbin.org'),
      shell('ls'),
    ]);
    expect(read?.limits).toMatchObject({
      allow_paths: ['./**', '/tmp/**'],
      deny_paths: expect.arrayContaining(['**/.ssh/**']),
      allow_hidden: false,
      max_size_bytes: 10_485_760,
    });
    expect(get?.limits).toMatchObject({
      network: ['api.github.com', 'httpbin.org', 'jsonplaceholder.typicode.com'],
      deny_private_ips: true,
      max_response_bytes: 5_242_880,
      timeout_ms: 30_000,
    });
    expect(run?.limits).toMatchObject({ timeout_ms: 120_000, max_output_bytes: 1_048_576, sandbox: 'required' });
  });
});
