import { existsSync, readFileSync } from 'node:fs';
import type { Agent, Invocation, Json, Provider } from '@capstan/contracts';
import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { findRepository } from '../fixtures/find-repository.js';
import { naughtyStrings } from '../fixtures/naughty-strings.js';
import { hardestQueue } from '../fixtures/queues.js';
import { type Call, PROVIDERS, RESPONSES, textsIn } from './provider-messages.js';
import { ALLOW_ALL, type System, startSystem } from './start-system.js';

describe.each(hardestQueue)('an agent on the $name queue', (queue) => {
  let system: System;
  let agent: Agent;
  beforeAll(async () => {
    system = await startSystem(queue);
    await system.admin.policies.put('default', {
      ...ALLOW_ALL,
      rules: [
        ...ALLOW_ALL.rules,
        { id: 'no-delete', effect: 'forbid', match: { tool: '*:delete_file' }, reason: 'nothing is deleted here' },
        { id: 'ask-first', effect: 'hold', match: { tool: 'cap:test_math:divide' }, reason: 'dividing is grave' },
      ],
    });
    agent = await system.admin.agents.create({
      name: 'Helper',
      system_prompt: 'You are helpful.',
      capabilities: ['test_math', 'session_file_system', 'current_time'],
      config: { current_time: { timezone: 'Asia/Tokyo' } },
    });
  });
  const toolCalls = (provider: Provider, calls: Call[], session_id = 'ses_1') =>
    system.admin.toolCalls.submit(
      { provider, response: RESPONSES[provider](calls), agent_id: agent.agent_id, session_id },
      { wait_s: 30 },
    );

  test.each(PROVIDERS)('gets its tools and has its calls answered in the format of %s', async (provider) => {
    const runtime = await system.admin.agents.runtime(agent.agent_id, provider);
    expect(runtime.system_prompt).toMatch(/^You have access to math tools[\s\S]*file system[\s\S]*You are helpful\.$/);
    expect(runtime.names).toMatchObject({ add: 'cap:test_math:add', read_file: 'cap:session_file_system:read_file' });
    expect(JSON.stringify(runtime.tools)).toContain('"add"');

    const answer = await toolCalls(provider, [
      { id: 'call_1', name: 'add', args: { a: 2, b: 3 } },
      { id: 'call_2', name: 'write_file', args: { path: '/notes/a.txt', content: 'grüße 🌍\n' } },
      { id: 'call_3', name: 'get_current_time', args: {} },
    ]);
    expect(answer.calls.map(({ id, status }) => [id, status])).toEqual([
      ['call_1', 'succeeded'],
      ['call_2', 'succeeded'],
      ['call_3', 'succeeded'],
    ]);
    expect(answer.invocations[2]?.inputs).toEqual({ timezone: 'Asia/Tokyo' });
    expect(answer.invocations[0]).toMatchObject({ session_id: 'ses_1', labels: { agent_id: agent.agent_id } });
    expect(textsIn(provider, answer.messages).slice(0, 1)).toEqual([['call_1', '{"result":5}', true]]);
    expect(JSON.stringify(answer.messages)).toContain('Asia/Tokyo');
  });

  test.each(PROVIDERS)('tells the model of %s what is wrong with a call, and runs the others', async (provider) => {
    const broken = JSON.parse(
      JSON.stringify(
        RESPONSES[provider]([
          { id: 'bad', name: 'add', args: 'oops' },
          { id: 'unknown', name: 'launch_rocket', args: {} },
          { id: 'denied', name: 'delete_file', args: { path: '/a' } },
          { id: 'held', name: 'divide', args: { a: 1, b: 1 } },
          { id: 'invalid', name: 'add', args: { a: 'x', b: 1 } },
          { id: 'fails', name: 'read_file', args: { path: '/nowhere' } },
          { id: 'fine', name: 'add', args: { a: 1, b: 1 } },
        ]),
      ),
    );
    const request = { provider, response: broken, agent_id: agent.agent_id, session_id: 'ses_2' };
    const { calls, messages, invocations } = await system.admin.toolCalls.submit(request, { wait_s: 30 });
    expect(calls.map(({ status }) => status)).toEqual([
      'refused',
      'refused',
      'denied',
      'held',
      'refused',
      'failed',
      'succeeded',
    ]);
    expect(invocations).toHaveLength(4);
    const texts = textsIn(provider, messages);
    expect(texts.map(([id, , ok]) => [id, ok])).toEqual([
      ['bad', false],
      ['unknown', false],
      ['denied', false],
      ['held', false],
      ['invalid', false],
      ['fails', false],
      ['fine', true],
    ]);
    const said = texts.map(([, text]) => text);
    expect(said[0]).toMatch(/the arguments (must be a JSON object|are not valid JSON)/);
    expect(said[1]).toContain('There is no tool "launch_rocket". Yours are: add, subtract');
    expect(said[2]).toContain('nothing is deleted here');
    expect(said[3]).toContain('[HELD]');
    expect(said[4]).toContain('inputs.a must be a number, not a string');
    expect(said[5]).toContain('there is no file /nowhere');
    expect(said[6]).toBe('{"result":2}');
  });

  test('tool calls without an agent may name any tool by its id, its long name or its short name', async () => {
    const args = { a: 1, b: 2 };
    const { calls, messages } = await system.admin.toolCalls.submit(
      {
        provider: 'openai',
        response: RESPONSES.openai([
          { id: '1', name: 'cap:test_math:add', args },
          { id: '2', name: 'cap_test_math_add', args },
          { id: '3', name: 'add', args },
        ]),
      },
      { wait_s: 30 },
    );
    expect(calls.map(({ tool_id }) => tool_id)).toEqual(Array(3).fill('cap:test_math:add'));
    expect(messages).toEqual(
      ['1', '2', '3'].map((id) => ({ role: 'tool', tool_call_id: id, content: '{"result":3}' })),
    );
  });

  test('tool calls sent twice with the same idempotency key make the same invocations', async () => {
    const request = {
      provider: 'anthropic' as const,
      response: RESPONSES.anthropic([{ id: 't', name: 'add', args: { a: 1, b: 2 } }]),
      idempotency_key: 'once',
    };
    const first = await system.admin.toolCalls.submit(request, { wait_s: 30 });
    const second = await system.admin.toolCalls.submit(request, { wait_s: 30 });
    expect(second).toEqual(first);
  });

  test('a model response without calls, and one that was streamed, are both accepted', async () => {
    const talk: Json = { role: 'assistant', content: [{ type: 'text', text: 'Hello' }] };
    expect(await system.admin.toolCalls.submit({ provider: 'anthropic', response: talk }, { wait_s: 1 })).toEqual({
      calls: [],
      invocations: [],
      messages: [],
    });
    const delta = (more: Json): string => `data: ${JSON.stringify({ choices: [{ index: 0, delta: more }] })}\n\n`;
    const stream = [
      delta({ tool_calls: [{ index: 0, id: 'c', function: { name: 'multiply', arguments: '{"a":6,' } }] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: '"b":7}' } }] }),
      'data: [DONE]\n\n',
    ].join('');
    const { messages } = await system.admin.toolCalls.submit({ provider: 'openai', response: stream }, { wait_s: 30 });
    expect(messages).toEqual([{ role: 'tool', tool_call_id: 'c', content: '{"result":42}' }]);
  });

  test('files that tools write stay in the session for people and for later calls', async () => {
    const { sessions } = system.admin;
    expect(await sessions.files.read('ses_1', '/notes/a.txt')).toMatchObject({
      content: 'grüße 🌍\n',
      encoding: 'text',
    });
    await sessions.files.write('ses_1', '/in/data.bin', { content: '/wD+', encoding: 'base64' });
    const { messages } = await toolCalls('openai', [{ id: 'r', name: 'read_file', args: { path: '/in/data.bin' } }]);
    expect(JSON.stringify(messages)).toContain('/wD+');
    expect(await sessions.get('ses_1')).toMatchObject({ files: 4, size_bytes: 16 });
    const { items } = await sessions.files.list('ses_1').page();
    expect(items.map(({ path, is_directory }) => [path, is_directory])).toEqual([
      ['/in', true],
      ['/notes', true],
    ]);
    await sessions.files.delete('ses_1', '/in', { recursive: true });
    await expect(sessions.files.read('ses_1', '/in/data.bin')).rejects.toMatchObject({ status: 404 });
  });

  test('the research scratchpad belongs to its session', async () => {
    const write = (section: string, content: string, session_id: string) =>
      system.admin.submit(
        { tool_id: 'cap:research:write_scratchpad', inputs: { section, content, mode: 'append' }, session_id },
        { wait_s: 30 },
      );
    await write('facts', 'one. ', 'ses_r');
    await write('facts', 'two.', 'ses_r');
    await write('facts', 'other', 'ses_s');
    const { items } = await system.admin.sessions.notes('ses_r').page();
    expect(items).toMatchObject([{ section: 'facts', content: 'one. two.' }]);
  });

  test('agents, sessions and files are invisible to other tenants', async () => {
    const { key } = await system.admin.keys.create({ tenant: 'globex', actor: 'eve', roles: ['admin'] });
    const stranger = system.clientFor(key);
    const missing = { status: 404 };
    await expect(stranger.agents.get(agent.agent_id)).rejects.toMatchObject(missing);
    await expect(stranger.agents.change(agent.agent_id, { name: 'x' })).rejects.toMatchObject(missing);
    await expect(stranger.agents.delete(agent.agent_id)).rejects.toMatchObject(missing);
    await expect(stranger.agents.runtime(agent.agent_id, 'openai')).rejects.toMatchObject(missing);
    expect((await stranger.agents.list().page()).items).toEqual([]);
    await expect(stranger.sessions.get('ses_1')).rejects.toMatchObject(missing);
    await expect(stranger.sessions.files.read('ses_1', '/notes/a.txt')).rejects.toMatchObject(missing);
    const request = { provider: 'openai' as const, response: RESPONSES.openai([]), agent_id: agent.agent_id };
    await expect(stranger.toolCalls.submit(request)).rejects.toMatchObject(missing);
    await stranger.sessions.files.write('ses_1', '/notes/a.txt', { content: 'mine' });
    expect(await system.admin.sessions.files.read('ses_1', '/notes/a.txt')).toMatchObject({ content: 'grüße 🌍\n' });
  });

  test('an unknown capability or a wrong configuration is refused with an explanation', async () => {
    const { agents } = system.admin;
    await expect(agents.create({ name: 'x', capabilities: ['curent_time'] })).rejects.toThrow(
      /Did you mean current_time/,
    );
    await expect(agents.create({ name: 'x', config: { test_math: {} } })).rejects.toThrow(/no such capability/);
    await expect(
      agents.create({ name: 'x', capabilities: ['current_time'], config: { current_time: { format: 'roman' } } }),
    ).rejects.toThrow(/config.current_time.format/);
    await expect(agents.change(agent.agent_id, { capabilities: ['nope'] })).rejects.toMatchObject({ status: 400 });
    const changed = await agents.change(agent.agent_id, { description: 'changed' });
    expect(changed).toMatchObject({ version: 2, description: 'changed', name: 'Helper' });
  });

  const gh = new URL('../shared/corpora/atip/gh.json', findRepository());
  test.skipIf(!existsSync(gh)).each(PROVIDERS)('gh_pr_create from %s resolves to its ATIP tool', async (provider) => {
    await system.admin.atipTools.add(JSON.parse(readFileSync(gh, 'utf8')));
    const response = RESPONSES[provider]([
      { id: 'c', name: 'gh_pr_create', args: { title: 'A title', draft: 'true' } },
    ]);
    const { calls } = await system.admin.toolCalls.submit({ provider, response }, { wait_s: 30 });
    expect(calls).toMatchObject([{ id: 'c', name: 'gh_pr_create', tool_id: 'atip:gh:pr.create' }]);
    expect(calls[0]?.warnings.join()).toMatch(/title is not a parameter.*draft is not a parameter/);
    const { agent_id } = await system.admin.agents.create({ name: 'gh', tools: ['atip:gh:pr.*'] });
    const { names } = await system.admin.agents.runtime(agent_id, provider);
    expect(names).toMatchObject({ gh_pr_create: 'atip:gh:pr.create' });
  });

  test('naughty strings as inputs come back byte for byte, with equal hashes', async () => {
    const naughty = naughtyStrings();
    const { run_id } = await system.admin.submitBulk(
      [...naughty, ...naughty].map((text) => ({ tool_id: 'cap:noop:noop', inputs: { text } })),
    );
    await eventually(async () => expect(await system.admin.runs.get(run_id)).toMatchObject({ status: 'completed' }), {
      timeout_ms: 20_000,
    });
    const done: Invocation[] = [];
    for await (const one of system.admin.list({ run_id, limit: 1000 })) done.unshift(one);
    expect(done).toHaveLength(2 * naughty.length);
    for (const [at, text] of naughty.entries()) {
      const [one, other] = [done[at], done[at + naughty.length]];
      expect(one?.inputs).toEqual({ text });
      expect(one?.result?.payload).toEqual({ text });
      expect([other?.input_hash, other?.result?.output_hash]).toEqual([one?.input_hash, one?.result?.output_hash]);
      expect(one?.result?.output_hash).toBe(one?.input_hash);
    }
  });

  test('calls with naughty strings as tool names and call ids all get an answer', async () => {
    const naughty = naughtyStrings();
    for (const provider of PROVIDERS) {
      const calls = naughty.slice(0, 100).map((text) => ({ id: `i${text}`, name: text, args: { text } }));
      const answer = await toolCalls(provider, calls, 'ses_n');
      expect(textsIn(provider, answer.messages).map(([id]) => id)).toEqual(calls.map(({ id }) => id));
    }
  });
});
