import { ALL_EFFECTS } from '@capstan/contracts';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { Call, KeptFile } from '../runner.js';
import { testCall, testDescriptor } from '../testing/test-call.js';
import { callOf, textOf, useTestMcp } from './testing/use-test-mcp.js';

const { stale, runner, run, addHttp } = await useTestMcp();

describe.each(['stdio', 'http'])('a server over %s', (transport) => {
  const name = transport === 'stdio' ? 'fixture' : 'remote';
  beforeAll(async () => {
    if (transport === 'http') await addHttp(name);
  });

  test('returns content blocks', async () => {
    expect(await run(name, 'echo', { value: 'hello' })).toMatchObject({
      success: true,
      payload: { content: [{ type: 'text', text: 'hello' }] },
    });
  });

  test('is not called if the call was lost right before', async () => {
    const lost = new AbortController();
    const over = { signal: lost.signal, beforeEffect: () => lost.abort() };
    await Promise.allSettled([run(name, 'home', { value: 'lost' }, over)]);
    expect(lost.signal.aborted).toBe(true);
    expect(textOf(await run(name, 'home', { value: 'lost' }))).toBe('nothing');
  });

  test('keeps structured content in addition to the blocks', async () => {
    const outcome = await run(name, 'sum', { a: 2, b: 3 });
    expect(outcome).toMatchObject({ success: true, payload: { structuredContent: { sum: 5 } } });
  });

  test('is one process for all calls, even concurrent ones', async () => {
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => run(name, 'pid')));
    expect(new Set(outcomes.map(textOf)).size).toBe(1);
  });

  test('fails a call whose tool reports an error, with its message', async () => {
    expect(await run(name, 'fail')).toMatchObject({ success: false, kind: 'TOOL_ERROR', error: 'it went wrong' });
  });

  test('gets the tool’s message about invalid arguments', async () => {
    const outcome = await run(name, 'sum', { a: 'x' });
    expect(outcome).toMatchObject({ success: false, kind: 'TOOL_ERROR' });
  });

  test('that wants a page opened first asks for that, and is called again once somebody has opened it', async () => {
    const page = (over: Partial<Call> = {}) => run(name, 'page', { value: 'p1' }, over);
    const answered = (action: string) => page({ resumed: async () => ({ state: {}, answers: { p1: { action } } }) });
    const url = 'https://pages.example/open';
    expect(await page()).toMatchObject({
      kind: 'INPUT_REQUIRED',
      asks: { requests: { p1: { method: 'elicitation/create', params: { mode: 'url', url, message: 'Open this' } } } },
    });
    expect(await answered('decline')).toMatchObject({ success: false, kind: 'TOOL_ERROR' });
    expect(textOf(await answered('accept'))).toBe('opened');
  });

  test('stores images and blobs as artifacts', async () => {
    const kept: KeptFile[] = [];
    const outcome = await run(
      name,
      'image',
      {},
      {
        keep: async (file) => {
          kept.push(file);
          return {
            sha256: 'a'.repeat(64),
            name: file.name,
            media_type: file.media_type,
            size: (file.content as Uint8Array).length,
          };
        },
      },
    );
    expect(kept).toMatchObject([{ name: 'image-2.png', media_type: 'image/png' }, { name: 'resource-3.zip' }]);
    expect(outcome.artifacts).toHaveLength(2);
    expect(outcome.payload).toMatchObject({
      content: [
        { text: 'a pixel' },
        { type: 'image', artifact: { name: 'image-2.png' } },
        { resource: { artifact: { size: 3 } } },
      ],
    });
    expect(JSON.stringify(outcome.payload)).not.toContain('iVBOR');
  });

  test('forwards progress, logs and a cancellation', async () => {
    const stop = new AbortController();
    const lines: string[] = [];
    let halfWay = () => {};
    const begun = new Promise<void>((resolve) => {
      halfWay = resolve;
    });
    const log: Call['log'] = (_, line) => {
      lines.push(line);
      if (lines.some((one) => one.includes('half-way')) && lines.some((one) => one.includes('waiting'))) halfWay();
    };
    const outcome = run(name, 'wait', {}, { signal: stop.signal, log });
    await begun;
    stop.abort('cancel');
    expect(await outcome).toMatchObject({ success: false });
    expect(lines.join('')).toContain('[progress 1/2] half-way\n');
    expect(lines.join('')).toContain('[info] waiting\n');
    await vi.waitFor(async () => expect(textOf(await run(name, 'canceled'))).toBe('1'), 30_000);
  });

  test('that ends during a call gives a clear error, and the next call works', async () => {
    stale.length = 0;
    const outcome = await run(name, 'crash');
    expect(outcome).toMatchObject({ success: false, kind: 'MCP_SERVER_FAILED' });
    if (transport === 'stdio') {
      expect(outcome.success || outcome.error).toMatch(
        /it ended with exit code 3; it had said: (.*\n)*about to crash$/,
      );
      expect(textOf(await run(name, 'echo', { value: 'back' }))).toBe('back');
    }
    expect(stale).toContain(name);
  });
});

describe('mcp.discover', () => {
  const discover = (server: string) =>
    runner.run(testCall(testDescriptor({ tool_id: 'mcp.discover', runner: 'mcp' }), { inputs: { server } }));

  test('lists the tools as the server describes them', async () => {
    const outcome = await discover('fixture');
    expect(outcome).toMatchObject({ success: true, payload: { server_info: { name: 'fixture' } } });
    const { tools } = outcome.payload as { tools: { name: string; annotations: unknown }[] };
    expect(tools.find(({ name }) => name === 'echo')).toMatchObject({ annotations: { readOnlyHint: true } });
  });

  test('of an unregistered server is refused', async () => {
    const outcome = await discover('nobody');
    expect(outcome).toMatchObject({ success: false, error: 'there is no MCP server nobody, or it is disabled' });
  });
});

test('a server that reports changed tools is marked as stale', async () => {
  stale.length = 0;
  await run('fixture', 'grow', {}, { tenant: 'grower' });
  await vi.waitFor(() => expect(stale).toContain('fixture'), 30_000);
});

test('a call that may have taken effect when its server exited has an unknown outcome, and is not retried', async () => {
  const call = callOf('fixture', 'crash');
  const outcome = await runner.run({ ...call, descriptor: { ...call.descriptor, effects: ALL_EFFECTS } });
  expect(outcome).toMatchObject({ success: false, kind: 'OUTCOME_UNKNOWN', retryable: false });
});

test('output over the limit is truncated after redaction', async () => {
  const limits = { timeout_ms: 30_000, max_output_bytes: 10 };
  const outcome = await run('fixture', 'echo', { value: '0123456789abcdef' }, { limits });
  expect(outcome).toMatchObject({ success: true, truncated: true });
  expect(textOf(outcome)).toBe('0123456789');
});

test('every part of an answer counts towards the limit, not only texts', async () => {
  const limits = { timeout_ms: 30_000, max_output_bytes: 1000 };
  expect(await run('fixture', 'link', { length: 2000 }, { limits })).toMatchObject({
    success: true,
    truncated: true,
    payload: { content: [{ type: 'text', text: 'after it' }] },
  });
  expect(await run('fixture', 'link', { length: 20 }, { limits })).toMatchObject({
    truncated: false,
    payload: { content: [{ type: 'resource_link' }, { type: 'text' }] },
  });
});

test('a question of a server is withdrawn when its call ends without the answer', async () => {
  let asked: AbortSignal | undefined;
  const ask: Call['ask'] = (_, signal) =>
    new Promise((resolve) => {
      asked = signal;
      signal?.addEventListener('abort', () => resolve(null));
    });
  expect(textOf(await run('fixture', 'impatient', { value: 'Which city?' }, { ask }))).toBe('it goes on');
  expect(asked?.aborted).toBe(true);
});
