import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type RunOptions, run } from '../testing/run-in-test.js';

const FIRST = `# kept for the tests
rules:
  - id: maths
    effect: allow
    match:
      tool: cap:test_math:*
`;

const UNREADABLE = 'rules: [';

let folder: string;
let server: Server;
/** The texts of the versions of the policy `default`. */
let versions: string[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'capstan-cli-'));
  versions = [FIRST];
  server = createServer(async (request, response) => {
    const body = await text(request);
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
    const json = (value: unknown, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    const wanted = request.headers['if-match'];
    if (request.method !== 'GET' && wanted !== undefined && wanted !== `"${versions.length}"`)
      return json({ status: 412, code: 3014, detail: 'another version is in force' }, 412);
    if (request.method === 'POST' && pathname === '/v1/policies/default/rollback') {
      versions.push(versions[JSON.parse(body).version - 1] ?? '');
      return json({ name: 'default', version: versions.length, document: {}, warnings: [] });
    }
    if (pathname !== '/v1/policies/default') return json({ status: 404, code: 3004, detail: 'no such policy' }, 404);
    if (body === UNREADABLE) return json({ status: 400, code: 1009, detail: 'line 1, column 9: not YAML' }, 400);
    if (request.method === 'PUT') versions.push(body);
    const version = Number(searchParams.get('version') ?? versions.length);
    const stored = versions[version - 1] ?? '';
    return json({ name: 'default', version, document: parse(stored), text: stored, warnings: [] });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  await new Promise((resolve) => server.close(resolve));
});

const capstan = (args: string[], { env, ...options }: RunOptions = {}) =>
  run(['--no-color', 'policy', ...args], {
    cwd: folder,
    env: {
      CAPSTAN_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      CAPSTAN_API_KEY: 'good',
      PATH: process.env.PATH ?? '',
      ...env,
    },
    ...options,
  });
const typing = (answer: string): RunOptions => ({
  tty: true,
  stdin: Object.assign(Readable.from([answer]), { isTTY: true }),
});

describe('capstan policy put', () => {
  beforeEach(() => writeFileSync(join(folder, 'new.yaml'), FIRST.replace('allow', 'hold')));

  it('shows the changes on a terminal and puts them after a yes', async () => {
    const { code, stderr } = await capstan(['put', 'new.yaml'], typing('y\n'));
    expect(code).toBe(0);
    expect(stderr).toContain('   - id: maths\n-    effect: allow\n+    effect: hold\n     match:\n');
    expect(stderr).toContain('? Put this as the policy default? [y/N]');
    expect(versions).toHaveLength(2);
  });

  it('puts nothing after a no', async () => {
    const { code, stderr } = await capstan(['put', 'new.yaml'], typing('n\n'));
    expect(code).toBe(1);
    expect(stderr).toContain('Nothing was put.');
    expect(versions).toHaveLength(1);
  });

  it('does not ask with --yes', async () => {
    expect(await capstan(['put', 'new.yaml', '--yes'], typing(''))).toMatchObject({ code: 0, stderr: '' });
    expect(versions).toHaveLength(2);
  });

  it.each([[[]], [['--yes']]])('does not ask in a pipe, with %j', async (more) => {
    expect(await capstan(['put', 'new.yaml', ...more])).toEqual({
      code: 0,
      stdout: '✓ default is now version 2\n',
      stderr: '',
    });
  });

  it('shows no difference if only the order of keys and comments differ', async () => {
    writeFileSync(
      join(folder, 'same.json'),
      '{"rules": [{"match": {"tool": "cap:test_math:*"}, "effect": "allow", "id": "maths"}]}',
    );
    expect((await capstan(['put', 'same.json'], typing('n\n'))).stderr).toContain('No rules or limits change.');
  });

  it('sends a text that it cannot parse to the gateway, which reports the place of the mistake', async () => {
    writeFileSync(join(folder, 'new.yaml'), UNREADABLE);
    const { code, stderr } = await capstan(['put', 'new.yaml'], typing(''));
    expect(code).toBe(2);
    expect(stderr).toMatch(/^✗ line 1, column 9: not YAML/);
  });
});

it.each([{ tty: false }, { tty: true }])('with --if-version, replaces only that version: %j', async (terminal) => {
  writeFileSync(join(folder, 'new.yaml'), FIRST.replace('allow', 'hold'));
  versions.push('rules: []');
  const put = (version: string) => capstan(['put', 'new.yaml', '--yes', '--if-version', version], terminal);
  const { code, stderr } = await put('1');
  expect(code).toBe(2);
  expect(stderr).toContain('somebody else has changed the policy default meanwhile');
  expect(versions).toHaveLength(2);
  expect((await put('2')).stdout).toBe('✓ default is now version 3\n');
});

it('does not replace a version that was put during the confirmation', async () => {
  const looking = (async function* () {
    versions.push('rules: []');
    yield 'y\n';
  })();
  writeFileSync(join(folder, 'new.yaml'), FIRST.replace('allow', 'hold'));
  const stdin = Object.assign(Readable.from(looking), { isTTY: true });
  const { code, stderr } = await capstan(['put', 'new.yaml'], { tty: true, stdin });
  expect(code).toBe(2);
  expect(stderr).toContain('somebody else has changed the policy default meanwhile');
  expect(versions).toEqual([FIRST, 'rules: []']);
});

describe('capstan policy add-rule', () => {
  it('adds the rule after the others and keeps the comments', async () => {
    const rule = ['--effect', 'hold', '--tool', 'ext:billing:*', '--risk-max', 'HIGH', '--approvals', '2'];
    expect((await capstan(['add-rule', 'refunds', ...rule])).code).toBe(0);
    expect(versions[1]).toBe(`${FIRST}  - id: refunds
    effect: hold
    match:
      tool: ext:billing:*
      risk_max: HIGH
    approvals:
      required: 2
`);
  });

  it('requires the tools that are meant', async () => {
    expect((await capstan(['add-rule', 'all', '--effect', 'allow'])).code).toBe(2);
    expect(versions).toHaveLength(1);
  });
});

describe('capstan policy edit', () => {
  /** An editor that does this to the file in `$1`. */
  const editor = (script: string): RunOptions => {
    const path = join(folder, 'editor');
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o700);
    return { env: { EDITOR: path } };
  };

  it('puts the edited text', async () => {
    expect((await capstan(['edit'], editor('sed -i s/allow/forbid/ "$1"'))).code).toBe(0);
    expect(versions[1]).toBe(FIRST.replace('allow', 'forbid'));
  });

  it('puts nothing if nothing was changed', async () => {
    const { code, stderr } = await capstan(['edit'], editor('true'));
    expect([code, stderr]).toEqual([0, 'No changes.\n']);
    expect(versions).toHaveLength(1);
  });

  it('keeps the text in its file if the editor fails', async () => {
    const { code, stderr } = await capstan(['edit'], editor('echo "# mine" >> "$1"; exit 3'));
    expect(code).toBe(2);
    const file = /Your changes are in (\S+)\./.exec(stderr)?.[1] ?? '';
    expect(readFileSync(file, 'utf8')).toContain('# mine');
    rmSync(join(file, '..'), { recursive: true });
    expect(existsSync(file)).toBe(false);
  });

  it('does not replace a version that somebody else put in the meantime', async () => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/policies/default`;
    const other = `fetch('${url}', { method: 'PUT', body: 'rules: []' })`;
    const { code, stderr } = await capstan(['edit'], editor(`echo >> "$1"; ${process.execPath} -e "${other}"`));
    expect(code).toBe(2);
    expect(stderr).toContain('somebody else has changed the policy default meanwhile');
    expect(versions).toEqual([FIRST, 'rules: []']);
  });
});

describe('capstan policy rollback', () => {
  it('puts the earlier version as a new one', async () => {
    versions.push('rules: []\n');
    expect((await capstan(['rollback', '1'])).stdout).toBe('✓ default is now version 3\n');
    // With its comments, which a document that was read and written again would not have.
    expect(versions[2]).toBe(FIRST);
  });

  it('shows the changes on a terminal, and asks', async () => {
    versions.push('rules: []\n');
    const { code, stderr } = await capstan(['rollback', '1'], typing('n\n'));
    expect(code).toBe(1);
    expect(stderr).toContain('+  - id: maths');
    expect(versions).toHaveLength(2);
  });
});
