import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { McpServer } from '@capstan/contracts';
import { beforeEach, describe, expect, it } from 'vitest';
import { run } from '../testing/run-in-test.js';
import { withAnswers } from '../testing/with-answers.js';

const SERVER: McpServer = {
  name: 'files',
  transport: 'stdio',
  command: 'npx',
  args: ['server'],
  env: {},
  permissions: [],
  paths: [],
  asks: [],
  tool_choice: {},
  pin: true,
  url: null,
  headers: {},
  tier: 'local',
  trust: 'org',
  timeout_ms: null,
  enabled: true,
  status: 'ready',
  tools: 3,
  prompts: 0,
  resources: 0,
  protocol_version: '2025-11-25',
  changed: [],
  stale: false,
  last_discovery: '2026-01-01T12:00:00.000Z',
  last_error: null,
  created_at: '2026-01-01T12:00:00.000Z',
  updated_at: '2026-01-01T12:00:00.000Z',
};

let answer: unknown = SERVER;
let answers: (request: string) => unknown = () => answer;
const { seen, env } = withAnswers((request) => answers(request));
beforeEach(() => {
  answer = SERVER;
  answers = () => answer;
});
const capstan = (...args: string[]) => run(args, { env });

describe('mcp add', () => {
  it('takes a program after two dashes', async () => {
    const done = await capstan(
      'mcp',
      'add',
      'files',
      '--env',
      'A=b=c',
      '--allow',
      'home,network',
      '--',
      'npx',
      '-y',
      'server',
    );
    expect(seen[0]).toEqual({
      request: 'POST /v1/mcp-servers',
      body: {
        name: 'files',
        command: 'npx',
        args: ['-y', 'server'],
        env: { A: 'b=c' },
        permissions: ['home', 'network'],
      },
    });
    expect(done).toMatchObject({ code: 0, stdout: '✓ files is ready, 3 tools\n' });
  });

  it('takes a URL with headers', async () => {
    await capstan(
      'mcp',
      'add',
      'docs',
      'https://x.example/mcp',
      '--header',
      'Authorization: Bearer secret://docs',
      '--trust',
      'vendor',
    );
    expect(seen[0]?.body).toEqual({
      name: 'docs',
      url: 'https://x.example/mcp',
      headers: { Authorization: 'Bearer secret://docs' },
      trust: 'vendor',
    });
  });

  it('takes a URL alone, which is named after its host, and lists of tools to add and to exclude', async () => {
    await capstan('mcp', 'add', 'https://docs.x.example/mcp', '--tool', 'read_*', '--deny-tool', 'read_all');
    expect(seen[0]?.body).toEqual({
      name: 'docs.x.example',
      url: 'https://docs.x.example/mcp',
      tools: { allow: ['read_*'], deny: ['read_all'] },
    });
  });

  it('takes a file of another client', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'capstan-cli-')), 'mcp.json');
    const content = { mcpServers: { files: { command: 'npx' } } };
    writeFileSync(file, JSON.stringify(content));
    answer = { items: [SERVER], next_cursor: null };
    expect(await capstan('mcp', 'add', '--file', file)).toMatchObject({ code: 0 });
    expect(seen[0]?.body).toEqual(content);
    expect(await capstan('mcp', 'add', file)).toMatchObject({ code: 0 });
    expect(seen[1]?.body).toEqual(content);
    writeFileSync(file, '{}');
    expect(await capstan('mcp', 'add', '--file', file)).toMatchObject({ code: 2 });
  });

  it('gives all programs of a file the permissions named, and takes no other option for a file', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'capstan-cli-')), 'mcp.json');
    const docs = { url: 'https://x.example/mcp' };
    writeFileSync(file, JSON.stringify({ mcpServers: { files: { command: 'npx' }, docs } }));
    answer = { items: [SERVER], next_cursor: null };
    await capstan('mcp', 'add', file, '--allow', 'network,home');
    const files = { command: 'npx', permissions: ['network', 'home'] };
    expect(seen[0]?.body).toEqual({ mcpServers: { files, docs } });
    const refused = await capstan('mcp', 'add', file, '--deny-tool', 'x');
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--deny-tool is for one server') });
    expect(seen).toHaveLength(1);
  });

  it('takes a file with comments, and reports the line of a mistake', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'capstan-cli-')), 'mcp.json');
    writeFileSync(file, '{\n  // of this project\n  "servers": { "files": { "command": "npx" }, },\n}');
    answer = { items: [SERVER], next_cursor: null };
    expect(await capstan('mcp', 'add', file)).toMatchObject({ code: 0 });
    expect(seen[0]?.body).toEqual({ mcpServers: { files: { command: 'npx' } } });
    writeFileSync(file, '{\n  "servers": { files }\n}');
    expect(await capstan('mcp', 'add', file)).toMatchObject({ code: 2, stderr: expect.stringContaining('line 2') });
  });

  it('takes a name in the registry, with or without a name for the server', async () => {
    await capstan('mcp', 'add', 'io.github.acme/files', '--env', 'TOKEN=secret://files');
    await capstan('mcp', 'add', 'mine', 'io.github.acme/files', '--allow', 'network');
    expect(seen.map(({ body }) => body)).toEqual([
      { registry: 'io.github.acme/files', env: { TOKEN: 'secret://files' } },
      { name: 'mine', registry: 'io.github.acme/files', permissions: ['network'] },
    ]);
  });

  it('of a URL that requires a login shows where to log in, and waits until somebody has', async () => {
    const wanting = { ...SERVER, status: 'failing', last_error: 'docs wants a login: capstan mcp login docs' };
    let looks = 0;
    answers = (request) => {
      if (request === 'POST /v1/mcp-servers') return wanting;
      if (request.endsWith('/login')) return { authorized: false, authorization_url: 'https://login.example/x' };
      looks += 1;
      return looks < 3 ? wanting : { ...SERVER, last_discovery: '2026-01-01T12:01:00.000Z' };
    };
    const done = await run(['mcp', 'add', 'docs', 'https://x.example/mcp'], { env, tty: true });
    expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('https://login.example/x') });
    expect(done.stdout).toContain('files is ready, 3 tools');
  });

  it('exits with 1 if the server fails, and shows why', async () => {
    answer = { ...SERVER, status: 'failing', last_error: 'no such program' };
    expect(await capstan('mcp', 'add', 'files', '--', 'nope')).toMatchObject({
      code: 1,
      stdout: '✗ files is failing: no such program\n',
    });
  });

  it.each([
    ['mcp', 'add'],
    ['mcp', 'add', 'x'],
    ['mcp', 'add', 'x', '--trust', 'native', '--', 'y'],
  ])('with missing or extra arguments is a usage error: %s %s %s', async (...args) => {
    expect((await capstan(...args)).code).toBe(2);
    expect(seen).toEqual([]);
  });
});

it('mcp changes shows what changed, and the command that accepts exactly that', async () => {
  const described = { description: 'Read a file', input_schema: {}, output_schema: null, risk: 'LOW', effects: {} };
  const after = { ...described, description: 'Send a file away' };
  const found_at = '2026-01-01T12:00:00.123456Z';
  const change = { tool_id: 'mcp:files:read', before: described, after, found_at };
  answer = { items: [change], next_cursor: null };
  const { stdout } = await capstan('mcp', 'changes', 'files');
  expect(stdout).toContain('Send a file away');
  expect(stdout).toContain(`capstan mcp accept files --found-until ${found_at}`);
  answer = { ...SERVER, changed: ['mcp:files:write'] };
  const accepted = await capstan('mcp', 'accept', 'files', '--found-until', found_at);
  expect(seen.at(-1)?.body).toEqual({ found_until: found_at });
  expect(accepted.stdout).toContain('Changed since then: mcp:files:write.');
});

it('mcp lists servers with their errors', async () => {
  answer = {
    items: [SERVER, { ...SERVER, name: 'docs', status: 'failing', last_error: 'refused' }],
    next_cursor: null,
  };
  const { stdout } = await capstan('mcp');
  expect(stdout).toMatch(/files +ready +3 +org +30s ago +npx server/);
  expect(stdout).toMatch(/docs +failing +3 +org +30s ago +refused/);
});

it.each([
  ['refresh', 'POST /v1/mcp-servers/files/refresh', null],
  ['enable', 'PATCH /v1/mcp-servers/files', { enabled: true }],
  ['disable', 'PATCH /v1/mcp-servers/files', { enabled: false }],
  ['remove', 'DELETE /v1/mcp-servers/files', null],
])('mcp %s asks for it', async (verb, request, body) => {
  expect((await capstan('mcp', verb, 'files')).code).toBe(0);
  expect(seen).toEqual([{ request, body }]);
});
