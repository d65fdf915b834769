import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { CommandHelp, CommandInvocation, JsonObject } from '@capstan/contracts';
import { lastResponse } from '@capstan/store/session';
import { beforeAll, describe, expect, test } from 'vitest';
import { atEnd } from '../fixtures/at-end.js';
import { findRepository } from '../fixtures/find-repository.js';
import { greeter } from './greeter.js';
import { refusalOf } from './refusal-of.js';
import { type System, startSystem } from './start-system.js';

const examples = (name: string): string =>
  fileURLToPath(new URL(`packages/examples/extensions/${name}`, findRepository()));

const POLICY = {
  version: '1.0',
  boundary: 'deny_by_default',
  rules: [{ id: 'all', effect: 'allow', match: { tool: '*' } }],
  risk: { HIGH: { effect: 'allow' } },
  limits: [{ match: { tool: 'ext:postman:*' }, network: ['127.0.0.1'], deny_private_ips: false }],
};

/** A stub language model that records the questions it gets. */
const questions: string[] = [];
const model = createServer(async (request, response) => {
  questions.push(await text(request));
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write('data: {"model":"m","choices":[{"delta":{"content":"It says hello."},"finish_reason":"stop"}]}\n\n');
  response.end('data: [DONE]\n\n');
});

let system: System;
beforeAll(async () => {
  const base_url = await listen(model);
  const llm = { provider: 'openai', base_url, model: 'm', max_tokens: 100, input_cost: 1, output_cost: 1 } as const;
  system = await startSystem({ name: 'postgres' }, { llm });
});

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => new Promise((resolve) => server.close(resolve)));
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

const invoke = (tool_id: string, inputs: JsonObject) => system.admin.submit({ tool_id, inputs }, { wait_s: 30 });
const ran = (answer: CommandInvocation | CommandHelp): CommandInvocation => {
  if ('kind' in answer) throw new Error(`it was help: ${answer.text}`);
  return answer;
};
const command = (line: string, session_id = 'ses_1') =>
  system.admin.command({ text: line, session_id }, { wait_s: 30 });

describe('the text tools', () => {
  beforeAll(async () => {
    await system.admin.extensions.install({ path: examples('text-tools') });
  });

  test.each<[string, JsonObject, JsonObject]>([
    ['words', { text: 'one two three' }, { stdout: '3\n' }],
    ['sort', { text: 'b\na\nc' }, { lines: ['a', 'b', 'c'] }],
    ['uniq', { text: 'a\na\nb' }, { lines: ['a', 'b'] }],
    ['head', { text: '1\n2\n3', count: 2 }, { lines: ['1', '2'] }],
    ['grep', { pattern: '-b', text: 'a-b\nc' }, { lines: ['a-b'] }],
    ['cut', { text: 'a:b:c', fields: '2', delimiter: ':' }, { lines: ['b'] }],
    ['upper', { text: '$(id) `id`' }, { stdout: '$(ID) `ID`' }],
    ['base64', { text: 'hello' }, { stdout: 'aGVsbG8=' }],
    ['base64_decode', { text: 'aGVsbG8=' }, { stdout: 'hello' }],
    ['sha256', { text: '' }, { stdout: expect.stringMatching(/^e3b0c442/) }],
  ])('%s of %j answers %j under the default policy', async (action, inputs, payload) => {
    const { status, result } = await invoke(`ext:text.tools:${action}`, inputs);
    expect(result?.error ?? null).toBeNull();
    expect(status).toBe('succeeded');
    expect(result?.payload).toMatchObject({ exit_code: 0, ...payload });
  });

  test('refuse invalid inputs before anything is committed', async () => {
    const { status, problem } = await refusalOf(invoke('ext:text.tools:head', { text: 'x', count: -1 }));
    expect(status).toBe(422);
    expect(problem).toMatchObject({ errors: [{ field: 'inputs.count' }] });
  });

  test('are found by what they do, and listed in pages', async () => {
    const found = await system.admin.tools.list({ q: 'count words', source: 'extension' }).page();
    expect(found.items[0]?.tool_id).toBe('ext:text.tools:words');
    const page = await system.admin.tools.list({ source: 'extension', runner: 'exec', limit: 5 }).page();
    expect(page.items).toHaveLength(5);
    const all: string[] = [];
    for await (const tool of system.admin.tools.list({ source: 'extension', limit: 5 })) all.push(tool.tool_id);
    expect(new Set(all).size).toBe(all.length);
    expect(all.length).toBeGreaterThan(15);
  });
});

describe('an extension', () => {
  test('can be called as soon as its installation is answered, and runs its own executables in the installed version', async () => {
    await system.admin.policies.put('default', POLICY);
    const installed = await system.admin.extensions.install(greeter('1.0.0', 'hello'));
    expect(installed).toMatchObject({
      extension_id: 'demo.greeter',
      enabled: true,
      commands: ['/greet'],
      tools: ['ext:demo.greeter:hello'],
      changes: { added: ['ext:demo.greeter:hello'] },
    });
    expect((await invoke('ext:demo.greeter:hello', { who: 'a; id' })).result?.payload).toMatchObject({
      stdout: 'hello, a; id\n',
    });
    const renewed = await system.admin.extensions.install(greeter('2.0.0', 'good day'));
    expect(renewed.changes).toEqual({ added: [], changed: ['ext:demo.greeter:hello'], removed: [] });
    expect((await invoke('ext:demo.greeter:hello', { who: 'ann' })).result?.payload).toMatchObject({
      stdout: 'good day, ann\n',
    });
  });

  test('cannot be called while disabled, can be called once enabled again, and is gone once removed', async () => {
    const { extensions } = system.admin;
    expect(await extensions.enable('demo.greeter', false)).toMatchObject({ enabled: false, tools: [] });
    const refused = await refusalOf(invoke('ext:demo.greeter:hello', { who: 'x' }));
    expect(refused).toMatchObject({ status: 403, code: 2013, detail: 'ext:demo.greeter:hello is disabled.' });
    expect(await system.admin.get(String(refused.problem.invocation_id))).toMatchObject({
      status: 'denied',
      decision: { effect: 'deny', code: 'TOOL_DISABLED', reason: 'the tool is disabled' },
    });
    expect(await refusalOf(command('/greet ann'))).toMatchObject({
      status: 409,
      suggestion: expect.stringContaining('enable'),
    });
    expect(await extensions.enable('demo.greeter', true)).toMatchObject({ tools: ['ext:demo.greeter:hello'] });
    expect(ran(await command('/greet ann')).result?.payload).toMatchObject({ stdout: 'good day, ann\n' });
    expect(await extensions.get('demo.greeter')).toMatchObject({ version: '2.0.0', usage: '# Greeter' });
    await extensions.remove('demo.greeter');
    expect(await refusalOf(extensions.get('demo.greeter'))).toMatchObject({ status: 404 });
    expect(await refusalOf(invoke('ext:demo.greeter:hello', { who: 'x' }))).toMatchObject({ status: 404 });
  });

  test('that is disabled is listed only on request, and explain and validate deny its tools', async () => {
    const tool_id = 'ext:demo.greeter:hello';
    const { extensions, tools, policies } = system.admin;
    await extensions.install(greeter('1.0.0', 'hello'));
    await extensions.enable('demo.greeter', false);
    const listed = async (enabled?: boolean | 'any', q?: string) =>
      (await tools.list({ enabled, q }).page()).items.map((tool) => [tool.tool_id, tool.enabled]);
    expect(await listed(false)).toEqual([[tool_id, false]]);
    expect(await listed(false, 'greeter')).toEqual([[tool_id, false]]);
    for (const enabled of [undefined, true]) expect(await listed(enabled)).not.toContainEqual([tool_id, false]);
    const any = await listed('any');
    expect(any).toContainEqual([tool_id, false]);
    expect(any).toContainEqual(['shell.run', true]);
    expect(await tools.get(tool_id)).toMatchObject({ enabled: false, unavailable: 'it is disabled' });
    const asked = { tool_id, inputs: { who: 7 } };
    expect(await policies.explain(asked)).toMatchObject({ effect: 'deny', code: 'TOOL_DISABLED' });
    expect(await system.admin.validate(asked)).toMatchObject({
      status: 'denied',
      decision: { code: 'TOOL_DISABLED' },
      suggestion: expect.stringContaining('capstan extension enable demo.greeter'),
    });
    await extensions.remove('demo.greeter');
    expect(await listed('any')).not.toContainEqual([tool_id, false]);
  });

  test('that is invalid is refused with the file and the field', async () => {
    const wrong = { ...greeter('1.0.0', 'x'), commands: 'slash_commands: [{ name: /x, actions: [{ id: a }] }]' };
    expect((await refusalOf(system.admin.extensions.install(wrong))).problem).toMatchObject({
      status: 400,
      errors: [{ file: 'commands.yaml', field: 'slash_commands.0.actions.0.runner' }],
    });
    expect(await refusalOf(system.admin.extensions.install({ path: '/nowhere' }))).toMatchObject({ status: 400 });
    expect(await refusalOf(system.admin.extensions.install({}))).toMatchObject({ status: 400 });
  });

  test('cannot claim a slash command of another extension', async () => {
    const taken = greeter('1.0.0', 'x');
    for (const each of taken.commands.slash_commands) each.name = '/text';
    expect(await refusalOf(system.admin.extensions.install(taken))).toMatchObject({
      status: 409,
      detail: expect.stringContaining('text.tools'),
    });
  });

  test('can be installed only by an admin of the installation', async () => {
    const key = async (tenant: string, roles: ('admin' | 'submit')[]) =>
      system.clientFor((await system.admin.keys.create({ tenant, actor: 'bob', roles })).key);
    const submitter = await key('default', ['submit']);
    expect(await refusalOf(submitter.extensions.install(greeter('1.0.0', 'x')))).toMatchObject({ status: 403 });
    const elsewhere = await key('acme', ['admin']);
    expect(await refusalOf(elsewhere.extensions.install(greeter('1.0.0', 'x')))).toMatchObject({
      status: 403,
      code: 6003,
    });
    expect((await submitter.extensions.list().page()).items).toHaveLength(1);
  });
});

describe('slash commands', () => {
  let web: string;
  beforeAll(async () => {
    await system.admin.policies.put('default', POLICY);
    await system.admin.extensions.install({ path: examples('postman') });
    const server = createServer(async (request, response) => {
      const body = await text(request);
      const { method, url, headers } = request;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ method, url, body, accept: headers.accept }));
    });
    web = await listen(server);
  });

  test('send HTTP requests, and the last answer becomes the last response of the session', async () => {
    const got = ran(await command(`/postman get ${web}/a?b=1 --header "Accept: text/x"`, 'ses_web'));
    expect(got.result?.error ?? null).toBeNull();
    expect(got).toMatchObject({
      status: 'succeeded',
      command: { name: '/postman', action: 'get', extension_id: 'postman' },
      tool_id: 'ext:postman:get',
    });
    expect(got.result?.payload).toMatchObject({
      stdout: expect.stringContaining('"url":"/a?b=1","body":"","accept":"text/x"'),
    });
    const posted = ran(await command(`/postman post ${web}/b '{"n": 1}'`, 'ses_web'));
    expect(posted.result?.payload).toMatchObject({ stdout: expect.stringContaining('{\\"n\\":1}') });
    expect(await lastResponse(system.store, 'default', 'ses_web')).toMatchObject({
      invocation_id: posted.invocation_id,
      tool_id: 'ext:postman:post',
      success: true,
    });
    expect(await lastResponse(system.store, 'default', 'ses_none')).toBeNull();
    expect(await lastResponse(system.store, 'acme', 'ses_web')).toBeNull();
  });

  test('understand words, quotes and flags', async () => {
    expect(ran(await command("/text words 'one two three'")).result?.payload).toMatchObject({ stdout: '3\n' });
    expect(ran(await command("/text cut 'a:b' 2 --delimiter=:")).result?.payload).toMatchObject({ lines: ['b'] });
  });

  test('print help, and suggest the nearest command for a typo', async () => {
    expect(await command('/help')).toMatchObject({ kind: 'help', text: expect.stringContaining('/postman') });
    expect(await command('/postman')).toMatchObject({ text: expect.stringContaining('/postman get <url> [--header]') });
    expect(await refusalOf(command('/postmn get x'))).toMatchObject({
      status: 404,
      suggestion: 'Did you mean /postman?',
    });
    expect(await refusalOf(command('/text wrods x'))).toMatchObject({ suggestion: 'Did you mean /text words?' });
    expect(await refusalOf(command('/text words "x'))).toMatchObject({ status: 400 });
    expect(await refusalOf(command('/text head x --count many'))).toMatchObject({ status: 422 });
  });

  test('`explain last_response` has a model explain it, with the usage document of the extension', async () => {
    const analysed = ran(await command('/postman explain last_response', 'ses_web'));
    expect(analysed).toMatchObject({ tool_id: 'ext:postman:explain', runner: 'analyze', status: 'succeeded' });
    expect(analysed.result?.payload).toMatchObject({ answer: 'It says hello.' });
    expect(questions.at(-1)).toContain('HTTP requests from the chat');
    expect(questions.at(-1)).toContain('ext:postman:post');
    // The analysis does not become the last response, so that it can be asked for again.
    expect(await lastResponse(system.store, 'default', 'ses_web')).toMatchObject({ tool_id: 'ext:postman:post' });
  });
});

const gh = new URL('../shared/corpora/atip/gh.json', findRepository());

describe.skipIf(!existsSync(gh))('gh.json of the ATIP corpus (skipped without the corpora)', () => {
  test('adds its tools to a running system, and removing it removes them', async () => {
    const { atipTools, tools } = system.admin;
    const added = await atipTools.add(JSON.parse(readFileSync(gh, 'utf8')));
    expect(added).toMatchObject({ name: 'gh', trust: 'inferred', warnings: [] });
    expect(added.tools.length).toBeGreaterThan(100);
    expect(await tools.get('atip:gh:pr.create')).toMatchObject({ name: 'gh_pr_create', unavailable: null });
    const harmless = await tools.list({ source: 'atip', risk_max: 'MED', exclude_side_effects: ['payments'] }).page();
    expect(harmless.items.map(({ name }) => name)).toContain('gh_pr_list');
    expect(harmless.items.map(({ name }) => name)).not.toContain('gh_issue_delete');
    expect((await tools.list({ source: 'atip', trust_min: 'community' }).page()).items).toEqual([]);
    expect((await atipTools.list().page()).items).toMatchObject([{ name: 'gh' }]);
    await atipTools.remove('gh');
    expect(await refusalOf(tools.get('atip:gh:pr.create'))).toMatchObject({ status: 404 });
  });
});

describe('the catalog', () => {
  test('reports a bad row and keeps all other tools', async () => {
    await system.store.db
      .insertInto('tools')
      .values({
        tool_id: 'ext:bad:x',
        source: 'extension',
        origin: 'bad',
        descriptor: '{}',
        descriptor_hash: 'x',
        enabled: true,
      })
      .execute();
    const { tools, sources } = await system.admin.tools.refresh();
    expect(tools).toBeGreaterThan(20);
    expect(sources).toContainEqual({
      source: 'extension',
      origin: 'bad',
      status: 'error',
      tools: 0,
      error: expect.stringContaining('ext:bad:x'),
    });
    expect(sources).toContainEqual(expect.objectContaining({ origin: 'text.tools', status: 'ok', error: null }));
  });
});
