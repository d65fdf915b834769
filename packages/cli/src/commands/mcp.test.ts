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
const { seen, env } = withAnswers(() => answer);
beforeEach(() => {
  answer = SERVER;
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

  it('takes a file of other clients', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'capstan-cli-')), 'mcp.json');
    const content = { mcpServers: { files: { command: 'npx' } } };
    writeFileSync(file, JSON.stringify(content));
    answer = { items: [SERVER], next_cursor: null };
    expect(await capstan('mcp', 'add', '--file', file)).toMatchObject({ code: 0 });
    expect(seen[0]?.body).toEqual(content);
    writeFileSync(file, '{}');
    expect(await capstan('mcp', 'add', '--file', file)).toMatchObject({ code: 2 });
  });

  it('ends with 1 when the server fails, and says why', async () => {
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
  ])('of too little or too much is a mistake of usage: %s %s %s', async (...args) => {
    expect((await capstan(...args)).code).toBe(2);
    expect(seen).toEqual([]);
  });
});

it('mcp lists servers with what is wrong with them', async () => {
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
