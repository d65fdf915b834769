import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type RunOptions, run } from '../testing/run-in-test.js';

const EXTENSION = {
  extension_id: 'text.tools',
  name: 'Text',
  version: '1.0.0',
  description: 'Small tools',
  enabled: true,
  commands: ['/text'],
  tools: ['ext:text.tools:wc'],
  changes: { added: ['ext:text.tools:wc'], changed: [], removed: [] },
};
const ATIP = { name: 'gh', version: '2', trust: 'inferred', description: 'GitHub', tools: ['atip:gh:.'] };
const TOOL = {
  tool_id: 'ext:text.tools:wc',
  description: 'Count words',
  runner: 'exec',
  source: 'extension',
  origin: 'text.tools',
  trust: 'org',
  risk: 'LOW',
  side_effects: [],
  effects: { idempotent: true, network: false, filesystem: { read: true, write: false, delete: false } },
  inferred: [{ field: 'trust', why: 'org: installed' }],
  input_schema: {
    type: 'object',
    required: ['text'],
    properties: {
      text: { type: 'string', description: 'What to count' },
      unit: { enum: ['words', 'bytes'], default: 'words' },
    },
  },
  unavailable: null,
};
const ANSWERS: Record<string, unknown> = {
  'POST /v1/extensions': EXTENSION,
  'GET /v1/extensions': { items: [EXTENSION], next_cursor: null },
  'PATCH /v1/extensions/text.tools': { ...EXTENSION, enabled: false },
  'DELETE /v1/extensions/text.tools': null,
  'POST /v1/atip-tools': { ...ATIP, changes: { added: ['atip:gh:.'], changed: [], removed: [] }, warnings: ['odd'] },
  'GET /v1/atip-tools': { items: [ATIP], next_cursor: null },
  'DELETE /v1/atip-tools/gh': null,
  'GET /v1/tools': { items: [TOOL], next_cursor: null },
  'GET /v1/tools/ext%3Atext.tools%3Awc': TOOL,
  'POST /v1/tools/refresh': {
    tools: 3,
    sources: [{ source: 'mcp', origin: 'files', status: 'error', tools: 0, error: 'gone' }],
  },
  'POST /v1/commands': { kind: 'help', command: '/help', text: 'Commands: /text' },
};

const seen: { route: string; query: string; body: string }[] = [];
const server = createServer(async (request, response) => {
  const url = new URL(request.url ?? '', 'http://x');
  const route = `${request.method} ${url.pathname}`;
  seen.push({ route, query: url.search, body: await text(request) });
  const answer = ANSWERS[route];
  response.writeHead(answer === null ? 204 : 200, { 'content-type': 'application/json' });
  response.end(answer === null ? undefined : JSON.stringify(answer));
});
const folder = mkdtempSync(join(tmpdir(), 'capstan-cli-'));
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  seen.length = 0;
});

const capstan = (args: string[], options: RunOptions = {}) => {
  const { port } = server.address() as AddressInfo;
  return run(args, {
    cwd: folder,
    ...options,
    env: { CAPSTAN_URL: `http://127.0.0.1:${port}`, CAPSTAN_API_KEY: 'good' },
  });
};
const write = (path: string, content: string) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
};
const lastBody = () => JSON.parse(seen.at(-1)?.body ?? '{}');

describe('capstan extension', () => {
  it('add uploads a folder with its executables', async () => {
    write('text/manifest.json', '{"id": "text.tools"}');
    write('text/commands/commands.yaml', 'slash_commands: []\n    entrypoint: commands/go.sh');
    write('text/commands/go.sh', 'go');
    write('text/docs/USAGE.md', '# Usage');
    write('text/tools/wc2', '#!/bin/sh\n');
    const { code, stdout } = await capstan(['extension', 'add', 'text']);
    expect(code).toBe(0);
    expect(stdout).toContain('text.tools 1.0.0: 1 tool added');
    expect(lastBody()).toEqual({
      manifest: '{"id": "text.tools"}',
      commands: 'slash_commands: []\n    entrypoint: commands/go.sh',
      usage: '# Usage',
      tools: { wc2: Buffer.from('#!/bin/sh\n').toString('base64'), 'go.sh': Buffer.from('go').toString('base64') },
    });
  });

  it('add refuses a folder that is not an extension, and sends nothing', async () => {
    const { code, stderr } = await capstan(['extension', 'add', 'nowhere']);
    expect(code).toBe(2);
    expect(stderr).toContain('manifest.json');
    expect(seen).toEqual([]);
  });

  it('lists, enables, disables and removes', async () => {
    expect((await capstan(['extension'])).stdout).toMatch(/text\.tools +1\.0\.0 +enabled +1 +\/text/);
    expect((await capstan(['extension', 'disable', 'text.tools'])).stdout).toContain('text.tools disabled');
    expect(lastBody()).toEqual({ enabled: false });
    expect((await capstan(['extension', 'remove', 'text.tools'])).stdout).toContain('removed');
    expect(seen.at(-1)?.route).toBe('DELETE /v1/extensions/text.tools');
  });
});

describe('capstan atip', () => {
  it('adds a document from a file or from stdin, and shows its warnings', async () => {
    write('gh.json', '{"name": "gh"}');
    const { stdout, stderr } = await capstan(['atip', 'add', 'gh.json']);
    expect(stdout).toContain('gh 2: 1 tool added');
    expect(stderr).toContain('odd');
    await capstan(['atip', 'add', '-'], { stdin: '{"name": "other"}' });
    expect(lastBody()).toEqual({ name: 'other' });
    expect((await capstan(['atip', 'add', '-'], { stdin: 'nonsense' })).code).toBe(2);
  });

  it('lists and removes', async () => {
    expect((await capstan(['atip', 'list'])).stdout).toMatch(/gh +2 +inferred +1/);
    expect((await capstan(['atip', 'remove', 'gh'])).stdout).toContain('gh removed');
  });
});

describe('capstan tools', () => {
  it('sends words and filters', async () => {
    await capstan([
      'tools',
      'count',
      'words',
      '--source',
      'extension,atip',
      '--risk-max',
      'MED',
      '--without',
      'payments',
    ]);
    const query = new URLSearchParams(seen.at(-1)?.query);
    expect(Object.fromEntries(query)).toMatchObject({
      q: 'count words',
      risk_max: 'MED',
      exclude_side_effects: 'payments',
    });
    expect(query.getAll('source')).toEqual(['extension', 'atip']);
  });

  it('shows one tool, with its inputs and what was inferred', async () => {
    const { stdout } = await capstan(['tools', 'ext:text.tools:wc']);
    expect(stdout).toContain('idempotent, filesystem.read');
    expect(stdout).toContain('trust: org: installed');
    expect(stdout).toMatch(/text +string +required +What to count\n/);
    expect(stdout).toMatch(/unit +words \| bytes +\("words" by default\)\n/);
    expect(stdout).toContain(`capstan invoke ext:text.tools:wc '{"text":"…"}'`);
  });

  it('refresh lists the sources that failed', async () => {
    const { code, stderr } = await capstan(['tools', 'refresh']);
    expect(code).toBe(1);
    expect(stderr).toContain('mcp files: gone');
  });
});

describe('capstan command', () => {
  it('sends a line with its session, and prints help', async () => {
    const { code, stdout } = await capstan(['command', '/help', '--session', 'demo']);
    expect(code).toBe(0);
    expect(stdout).toBe('Commands: /text\n');
    expect(lastBody()).toEqual({ text: '/help', session_id: 'demo' });
  });
});
