import type { Descriptor, JsonObject, ToolConstraints } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { parsePolicy } from '../parse-policy.js';
import { compileOpen } from '../testing/compile-open.js';
import { newRequest, newTool } from '../testing/new-request.js';

const decide = (
  tool: Partial<Descriptor>,
  constraints: ToolConstraints,
  inputs: JsonObject,
  key = tool.tool_id ?? '',
) =>
  compileOpen(parsePolicy({ tools: { [key]: constraints } })).decide(newRequest({ descriptor: newTool(tool), inputs }));

describe('paths', () => {
  const read = (path: string, constraints: ToolConstraints = { allow_paths: ['./**'] }) =>
    decide({ tool_id: 'fs.read', runner: 'file' }, constraints, { path }).rule_matched;
  const lists = {
    allow_paths: ['./docs/**', './*.md', '/tmp/**'],
    deny_paths: ['**/.env', '**/secrets*', './docs/x/**'],
  };
  test.each([
    ['docs/a.txt', 'tools[fs.read]'],
    ['./docs//deep/./a.txt', 'tools[fs.read]'],
    ['README.md', 'tools[fs.read]'],
    ['sub/README.md', 'allow_paths'],
    ['/tmp/a', 'tools[fs.read]'],
    ['/etc/passwd', 'allow_paths'],
    ['docs/secrets.json', 'deny_paths[**/secrets*]'],
    ['/tmp/a/secrets', 'deny_paths[**/secrets*]'],
    ['docs/x/y/z', 'deny_paths[./docs/x/**]'],
    ['docs/.env', 'allow_hidden=false'],
    ['.ssh/id_rsa', 'allow_hidden=false'],
    ['docs/../../etc/passwd', 'path_traversal'],
    ['docs\\..\\..\\etc', 'path_traversal'],
    ['~/.ssh', 'path_traversal'],
    ['docs/a\0.txt', 'invalid_path'],
  ])('%j: %s', (path, rule) => {
    expect(read(path, lists)).toBe(rule);
  });
  test('a hidden file can be allowed, and denied by name', () => {
    expect(read('.gitignore', { ...lists, allow_paths: ['./**'], allow_hidden: true })).toBe('tools[fs.read]');
    expect(read('a/.env', { ...lists, allow_paths: ['./**'], allow_hidden: true })).toBe('deny_paths[**/.env]');
  });
  test('an absent or an empty list allows nothing', () => {
    expect(read('a', {})).toBe('allow_paths=[]');
    expect(read('a', { allow_paths: [] })).toBe('allow_paths=[]');
  });
  test('a pattern with many stars is matched quickly', () => {
    const glob = `**/${'*a*'.repeat(30)}/**/${'**/a*/'.repeat(20)}b`;
    expect(read(`${'a'.repeat(200)}/`.repeat(20), { allow_paths: [glob] })).toBe('allow_paths');
  });
  test('{a,b} matches either', () => {
    expect(read('src/a.ts', { allow_paths: ['{src,test}/*.{ts,js}'] })).toBe('tools[fs.read]');
    expect(read('lib/a.ts', { allow_paths: ['{src,test}/*.{ts,js}'] })).toBe('allow_paths');
  });
  test('the size of written content is limited', () => {
    const write = (content: string, max_size_bytes: number) =>
      decide({ tool_id: 'fs.write', runner: 'file' }, { allow_paths: ['**'], max_size_bytes }, { path: 'a', content });
    expect(write('äöü', 5).rule_matched).toBe('max_size_bytes');
    expect(write('äöü', 6).allowed).toBe(true);
    expect(write('', 0).rule_matched).toBe('max_size_bytes');
  });
});

describe('domains', () => {
  const get = (url: string, constraints: ToolConstraints) =>
    decide({ tool_id: 'http.get', runner: 'api' }, constraints, { url }).rule_matched;
  const lists = {
    allow_domains: ['api.github.com', '*.example.com', '10.0.0.1', '127.0.0.1'],
    deny_domains: ['bad.example.com'],
  };
  test.each([
    ['https://api.github.com/zen', 'tools[http.get]'],
    ['https://API.GitHub.com:8443/', 'tools[http.get]'],
    ['https://user@api.github.com.evil.org/', 'allow_domains'],
    ['https://a.b.example.com', 'tools[http.get]'],
    ['https://example.com', 'tools[http.get]'],
    ['https://notexample.com', 'allow_domains'],
    ['https://bad.example.com', 'deny_domains[bad.example.com]'],
    ['http://10.0.0.1/', 'deny_private_ips=true'],
    ['http://0x7f.1/', 'deny_private_ips=true'],
    ['http://2130706433/', 'deny_private_ips=true'],
    ['ftp://example.com/', 'invalid_url'],
    ['file:///etc/passwd', 'invalid_url'],
    ['example.com', 'invalid_url'],
  ])('%s: %s', (url, rule) => {
    expect(get(url, lists)).toBe(rule);
  });
  test('a private address must be allowed explicitly', () => {
    expect(get('http://10.0.0.1/', { ...lists, deny_private_ips: false })).toBe('tools[http.get]');
  });
  test('an absent or empty list allows nothing, and neither does a response limit of 0 bytes', () => {
    expect(get('https://a.org', {})).toBe('allow_domains=[]');
    expect(get('https://a.org', { allow_domains: [] })).toBe('allow_domains=[]');
    expect(get('https://a.org', { allow_domains: ['*'], max_response_bytes: 0 })).toBe('max_response_bytes');
  });
  test('the name of a secret is not a URL, except in a field for URLs', () => {
    const call = (inputs: JsonObject) =>
      decide({ tool_id: 'api.call', runner: 'api' }, { allow_domains: ['example.com'] }, inputs).rule_matched;
    const url = 'https://example.com/';
    expect(call({ url, headers: { 'X-Api-Key': 'secret://api.token' } })).toBe('tools[api.call]');
    expect(call({ url, headers: { 'X-Api-Key': 'secret://evil.org/path' } })).toBe('invalid_url');
    expect(call({ url: 'secret://api.token' })).toBe('invalid_url');
  });
  test('a URL is found anywhere in the inputs', () => {
    const tool = { tool_id: 'ext:tools.postman:get', runner: 'exec' } as const;
    const inputs = { args: ['--x', ['https://evil.org/a']], flags: {} };
    expect(decide(tool, { allow_domains: ['example.com'] }, inputs).rule_matched).toBe('allow_domains');
  });
  test('a URL set by the tool itself is checked too', () => {
    const binding = { kind: 'request', extension_id: 'x', method: 'post', url: 'https://evil.org/{{id}}' } as const;
    const tool = { tool_id: 'ext:x:y', runner: 'api', binding } as const;
    expect(decide(tool, { allow_domains: ['example.com'] }, {}).rule_matched).toBe('allow_domains');
    expect(decide(tool, { allow_domains: ['evil.org'], allow_methods: ['GET'] }, {}).rule_matched).toBe(
      'allow_methods',
    );
  });
});

describe('commands', () => {
  const run = (
    cmd: JsonObject['cmd'],
    constraints: ToolConstraints = { allow_executables: ['git', 'echo', '/opt/x/tool'] },
  ) => decide({ tool_id: 'shell.run', runner: 'exec', risk: 'HIGH' }, constraints, { cmd: cmd ?? null });
  test.each([
    [['git', 'status'], 'tools[shell.run]'],
    [['/usr/bin/git', 'status'], 'tools[shell.run]'],
    [['/opt/x/tool'], 'tools[shell.run]'],
    [['/tmp/evil/git'], 'allow_executables'],
    [['./git'], 'allow_executables'],
    [['rm', '-rf', '/'], 'allow_executables'],
    [['echo', 'sudo', 'x'], 'deny_tokens[sudo]'],
    [['echo', 'x;SUDO x'], 'deny_tokens[sudo]'],
    [['echo', 'rm  -rf /'], 'deny_tokens[rm -rf]'],
    [['echo', 'capsule', 'pseudosudoers'], 'tools[shell.run]'],
    [[], 'cmd_empty'],
    ['git status', 'cmd_must_be_list'],
  ])('%j: %s', (cmd, rule) => {
    expect(run(cmd).rule_matched).toBe(rule);
  });
  test('a reason that quotes the inputs can be stored in Postgres', () => {
    const { reason } = run([`a\0b\n\ud800${'x'.repeat(5000)}`]);
    expect(reason.isWellFormed()).toBe(true);
    expect(reason).toMatch(/^a\ufffdb\ufffd\ufffdx{100}/);
    expect(reason.length).toBe(1000);
  });
  test('a token that is not a word is found within words', () => {
    const allow_executables = ['find'];
    expect(run(['find', '.', '-exec', 'x'], { allow_executables, deny_tokens: ['-exec'] }).allowed).toBe(false);
    expect(run(['find', 'a|b'], { allow_executables, deny_tokens: ['|'] }).allowed).toBe(false);
  });
  test('only an entry with a list of executables passes the gate of HIGH', () => {
    expect(run(['git', 'status']).effect).toBe('allow');
    const refund = { tool_id: 'ext:billing:refund', risk: 'HIGH' } as const;
    expect(decide(refund, { timeout_seconds: 5 }, {}).effect).toBe('hold');
  });
  test('the program of an ATIP tool is checked too', () => {
    const binding: Descriptor['binding'] = { kind: 'atip', executable: 'gh', path: ['pr'], parameters: [] };
    const tool = { tool_id: 'atip:gh:pr', runner: 'exec', binding } as const;
    expect(decide(tool, { allow_executables: ['git'] }, {}).rule_matched).toBe('allow_executables');
    expect(decide(tool, { allow_executables: ['gh'] }, {}).allowed).toBe(true);
  });
});

describe('entries', () => {
  test('fs_read is an alias of fs.read', () => {
    const tool = { tool_id: 'fs.read', runner: 'file' } as const;
    expect(decide(tool, { allow_paths: ['**'] }, { path: 'a' }, 'fs_read').allowed).toBe(true);
  });
  test('an entry with a wildcard constrains and does not allow', () => {
    const tool = { tool_id: 'ext:a:b' };
    expect(decide(tool, { timeout_seconds: 5 }, {}, 'ext:*').code).toBe('NO_RULE');
    const document = parsePolicy({
      tools: { 'ext:*': { deny_paths: ['**/.env'] }, 'ext:a:b': { allow_hidden: true } },
    });
    const request = newRequest({ descriptor: newTool(tool), inputs: { file: 'x/.env' } });
    expect(compileOpen(document).decide(request).rule_matched).toBe('deny_paths[**/.env]');
  });
});
