import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../testing/run-in-test.js';
import { withGateway } from '../testing/with-gateway.js';

const { folder } = withGateway();

type Answer = { type: string; body: string };
let server: Server;
let seen: { path: string; accept: string | undefined; body: string }[];
let answers: Record<string, Answer>;

/** The response of each path; these commands accept JSON, YAML and JSON Lines. */
beforeEach(async () => {
  seen = [];
  answers = {};
  server = createServer(async (request: IncomingMessage, response) => {
    const path = new URL(request.url ?? '', 'http://x').pathname;
    seen.push({ path: request.url ?? '', accept: request.headers.accept, body: await text(request) });
    const answer = answers[path];
    response.writeHead(answer ? 200 : 404, { 'content-type': answer?.type ?? 'application/problem+json' });
    response.end(answer?.body ?? '{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

const json = (value: unknown): Answer => ({ type: 'application/json', body: JSON.stringify(value) });
const lines = (...values: unknown[]): Answer => ({
  type: 'application/x-ndjson',
  body: values.map((value) => `${JSON.stringify(value)}\n`).join(''),
});
const capstan = (args: string[], options = {}) => {
  const { port } = server.address() as AddressInfo;
  return run(args, {
    cwd: folder(),
    env: { CAPSTAN_URL: `http://127.0.0.1:${port}`, CAPSTAN_API_KEY: 'good' },
    ...options,
  });
};

describe('capstan explain', () => {
  const decision = {
    effect: 'deny',
    allowed: false,
    reason: 'no rule allows shell.run',
    rule_matched: null,
    code: 'NO_RULE',
    rules: [{ id: 'maths', matched: false, why: 'the tool is not cap:*' }],
    limits: { timeout_ms: 30_000, max_output_bytes: 1 },
    policy_hash: 'sha256:0',
    suggestion: 'Add this:\ntools:\n  shell.run: {}',
  };

  it('shows the decision, every rule, and the YAML to add', async () => {
    answers['/v1/policy/explain'] = json(decision);
    const { code, stdout } = await capstan(['explain', 'shell.run', '{"cmd": ["ls"]}', '--label', 'env=dev']);
    expect(code).toBe(3);
    expect(stdout).toContain('⊘ denied  shell.run  no rule allows shell.run');
    expect(stdout).toMatch(/· {2}maths {2}the tool is not cap:\*/);
    expect(stdout).toContain('→ Add this:\n  tools:\n    shell.run: {}');
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({
      tool_id: 'shell.run',
      inputs: { cmd: ['ls'] },
      labels: { env: 'dev' },
    });
  });

  it('takes inputs as name=value pairs, as invoke does', async () => {
    answers['/v1/policy/explain'] = json(decision);
    await capstan(['explain', 'fake:typed', 'n=5', 'word=five']);
    expect(JSON.parse(seen.at(-1)?.body ?? '').inputs).toEqual({ n: 5, word: 'five' });
  });

  it('shows what the policy of the installation decided and lowered', async () => {
    const rules = [{ id: 'no-shell', matched: true, why: 'not here', of: 'installation' }];
    const bound = { ...decision, decided_by: 'installation', rule_matched: 'no-shell', rules };
    answers['/v1/policy/explain'] = json(bound);
    expect((await capstan(['explain', 'shell.run'])).stdout).toMatch(
      /decided by +no-shell \(installation\)[\s\S]*✓ {2}no-shell \(installation\)/,
    );
    answers['/v1/policy/explain'] = json({ ...bound, effect: 'allow', lowered: ['env', 'shell'] });
    expect((await capstan(['explain', 'shell.run'])).stdout).toMatch(
      /lowered +env, shell, by the policy of the installation/,
    );
  });

  it('sends a draft, and ends with 4 for a hold', async () => {
    writeFileSync(join(folder(), 'draft.yaml'), 'rules: []\n');
    const approvals = { required: 2, roles: ['operate', 'admin'], allow_self: false, expires_in_ms: 60_000 };
    answers['/v1/policy/explain'] = json({ ...decision, effect: 'hold', approvals, suggestion: null });
    const { code, stdout } = await capstan(['explain', 'shell.run', '--policy', 'draft.yaml']);
    expect(code).toBe(4);
    expect(stdout).toContain('2 people, with operate and admin, not who submits, within 1m');
    expect(JSON.parse(seen[0]?.body ?? '').policy).toBe('rules: []\n');
  });
});

describe('capstan what-if', () => {
  const changed = {
    kind: 'changed',
    invocation_id: 'inv_1',
    tool_id: 'cap:test_math:add',
    actor: 'ann',
    created_at: '2026-01-01T12:00:00.000Z',
    was: { effect: 'allow', reason: '', rule_matched: null, code: null },
    would_be: { effect: 'deny', reason: 'no rule allows it', rule_matched: null, code: 'NO_RULE' },
  };
  const done = { kind: 'done', total: 9, checked: 9, changed: 3, changes: { 'allow → deny': 3 }, unknown_tools: 1 };

  beforeEach(() => {
    writeFileSync(join(folder(), 'draft.json'), '{"rules": []}');
    answers['/v1/policy/what-if'] = lines(changed, { kind: 'progress', checked: 9, total: 9, changed: 3 }, done);
  });

  it('lists the decisions that would change and counts the rest', async () => {
    const { code, stdout } = await capstan(['what-if', 'draft.json', '--since', '1h', '--limit', '1']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/inv_1 +cap:test_math:add +allow +deny +\S+ ago +no rule allows it/);
    expect(stdout).toContain('… and 2 more');
    expect(stdout).toContain('3 of 9 decisions would change, allow → deny 3, 1 call of tools that no longer exist');
    expect(seen[0]?.accept).toBe('application/x-ndjson');
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({
      policy: { rules: [] },
      since: '2026-01-01T11:00:30.000Z',
      limit: 1,
    });
  });

  it('shows its progress on a terminal, and clears it', async () => {
    const { stderr } = await capstan(['what-if', 'draft.json'], { tty: true, columns: 100 });
    expect(stderr).toMatch(/checked .*9 .*100%/);
    expect(stderr.endsWith('\r\u001b[2K')).toBe(true);
  });

  it('prints one JSON value for a script', async () => {
    const { stdout } = await capstan(['what-if', 'draft.json', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ checked: 9, changed: 3, more: 2, items: [{ invocation_id: 'inv_1' }] });
  });

  it('reports an answer that ends too early', async () => {
    answers['/v1/policy/what-if'] = lines(changed);
    expect((await capstan(['what-if', 'draft.json'])).code).toBe(1);
  });
});

describe('capstan policy', () => {
  it('prints the document as YAML, or everything as JSON', async () => {
    answers['/v1/policies/default'] = { type: 'application/yaml', body: '# default, version 3\nrules: []\n' };
    expect((await capstan(['policy', 'get'])).stdout).toBe('# default, version 3\nrules: []\n');
    answers['/v1/policies/default'] = json({ name: 'default', version: 2 });
    expect(JSON.parse((await capstan(['policy', '--json', 'get', '--version-number', '2'])).stdout).version).toBe(2);
    expect(seen.map(({ path }) => path)).toEqual(['/v1/policies/default', '/v1/policies/default?version=2']);
  });

  it('warns on stderr of names that match no tool', async () => {
    writeFileSync(join(folder(), 'new.yaml'), 'rules: []\n');
    const warnings = [{ field: 'rules.0.match.tool', message: 'shel.run matches no known tool' }];
    answers['/v1/policies/default'] = json({ name: 'default', version: 3, warnings });
    const { code, stdout, stderr } = await capstan(['policy', 'put', 'new.yaml']);
    expect([code, stdout]).toEqual([0, '✓ default is now version 3\n']);
    expect(stderr).toBe('warning rules.0.match.tool: shel.run matches no known tool\n');
  });

  it('lists the versions', async () => {
    const version = { name: 'default', version: 2, policy_hash: `sha256:${'a'.repeat(64)}`, created_by: 'ann' };
    answers['/v1/policies'] = json({
      items: [{ ...version, created_at: '2026-01-01T12:00:00.000Z' }],
      next_cursor: null,
    });
    expect((await capstan(['policy', 'list'])).stdout).toMatch(/default {8}2 {2}sha256:aaaaaaaaaaaa {2}ann/);
  });
});
