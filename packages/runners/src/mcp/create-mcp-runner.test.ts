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

  test('answers in content blocks', async () => {
    expect(await run(name, 'echo', { value: 'hello' })).toMatchObject({
      success: true,
      payload: { content: [{ type: 'text', text: 'hello' }] },
    });
  });

  test('keeps structured content beside the blocks', async () => {
    const outcome = await run(name, 'sum', { a: 2, b: 3 });
    expect(outcome).toMatchObject({ success: true, payload: { structuredContent: { sum: 5 } } });
  });

  test('is one process for all calls, also at once', async () => {
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => run(name, 'pid')));
    expect(new Set(outcomes.map(textOf)).size).toBe(1);
  });

  test('fails a call whose tool says so, with its words', async () => {
    expect(await run(name, 'fail')).toMatchObject({ success: false, kind: 'TOOL_ERROR', error: 'it went wrong' });
  });

  test('is told of wrong arguments by the tool, in words', async () => {
    const outcome = await run(name, 'sum', { a: 'x' });
    expect(outcome).toMatchObject({ success: false, kind: 'TOOL_ERROR' });
  });

  test('leaves images and blobs as artifacts', async () => {
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

  test('passes progress, logs and a cancel on', async () => {
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
    const heard = await vi.waitFor(() => run(name, 'canceled'));
    expect(textOf(heard)).toBe('1');
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

  test('of a server that nobody registered says so', async () => {
    const outcome = await discover('nobody');
    expect(outcome).toMatchObject({ success: false, error: 'there is no MCP server nobody, or it is disabled' });
  });
});

test('a server that says its tools changed is reported stale', async () => {
  stale.length = 0;
  await run('fixture', 'grow', {}, { tenant: 'grower' });
  await vi.waitFor(() => expect(stale).toContain('fixture'));
});

test('a call that may have taken effect is not tried again by itself', async () => {
  const call = callOf('fixture', 'crash');
  const outcome = await runner.run({ ...call, descriptor: { ...call.descriptor, effects: ALL_EFFECTS } });
  expect(outcome).toMatchObject({ success: false, retryable: false });
});

test('output over the limit is cut after it was redacted', async () => {
  const limits = { timeout_ms: 30_000, max_output_bytes: 10 };
  const outcome = await run('fixture', 'echo', { value: '0123456789abcdef' }, { limits });
  expect(outcome).toMatchObject({ success: true, truncated: true });
  expect(textOf(outcome)).toBe('0123456789');
});

test('every part of an answer counts against the limit, not its texts alone', async () => {
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
