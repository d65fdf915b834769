import type { ServerResponse } from 'node:http';
import type { InvocationEvent } from '@capstan/contracts';
import { afterEach, describe, expect, it } from 'vitest';
import { createClient } from './create-client.js';
import type { EventsOptions } from './follow-events.js';
import { type Handler, serve } from './testing/serve.js';

const cleanup: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const each of cleanup.splice(0)) await each();
});

const connect = async (handler: Handler) => {
  const server = await serve(handler);
  const client = createClient({ url: server.url });
  cleanup.push(client.close, server.close);
  return { client, ...server };
};

const open = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { 'content-type': 'text/event-stream' });
const status = (id: number, value: string): string =>
  `id: ${id}\nevent: status\ndata: ${JSON.stringify({ status: value, attempt: 1, at: '2026-01-01T00:00:00Z' })}\n\n`;
const log = (id: number, text: string): string =>
  `id: ${id}\nevent: log\ndata: ${JSON.stringify({ stream: 'stdout', text, seq: id })}\n\n`;
const result = (id: number): string => `id: ${id}\nevent: result\ndata: {"success":true,"payload":5}\n\n`;

const quick = { retry_ms: 1 } satisfies EventsOptions;
const collect = async (events: AsyncIterable<InvocationEvent>): Promise<string[]> => {
  const all: string[] = [];
  for await (const { id, event } of events) all.push(`${id} ${event}`);
  return all;
};

describe('the events of an invocation', () => {
  it('come until the gateway ends the stream', async () => {
    const { client } = await connect(
      (_, response) => void open(response).end(status(1, 'running') + log(2, 'a') + status(3, 'succeeded') + result(4)),
    );
    expect(await collect(client.events('inv_1'))).toEqual(['1 status', '2 log', '3 status', '4 result']);
  });

  it('are resumed after the last one seen when the connection breaks, without a gap or a repeat', async () => {
    const { client, seen } = await connect((_, response, nth) => {
      if (nth === 1) open(response).write(status(1, 'running') + log(2, 'a'), () => response.destroy());
      else if (nth === 2) open(response).write('id: 3\nevent: lo', () => response.destroy());
      else open(response).end(log(3, 'b') + status(4, 'succeeded') + result(5));
      return undefined;
    });
    expect(await collect(client.events('inv_1', quick))).toEqual([
      '1 status',
      '2 log',
      '3 log',
      '4 status',
      '5 result',
    ]);
    expect(seen.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '2', '2']);
  });

  it('are resumed when a gateway that stops ends the stream before the invocation has ended', async () => {
    const { client, seen } = await connect(({ path }, response, nth) => {
      if (!path.endsWith('/events')) return { body: { status: 'running' } };
      open(response).end(nth === 1 ? status(1, 'running') : status(2, 'failed'));
      return undefined;
    });
    expect(await collect(client.events('inv_1', quick))).toEqual(['1 status', '2 status']);
    expect(seen).toHaveLength(3);
  });

  it('start where the caller left off', async () => {
    const { client, seen } = await connect((_, response) => void open(response).end(result(9)));
    expect(await collect(client.events('inv_1', { last_event_id: '8' }))).toEqual(['9 result']);
    expect(seen[0]?.headers['last-event-id']).toBe('8');
  });

  it('are none when the caller has seen them all', async () => {
    const { client } = await connect(({ path }, response) => {
      if (!path.endsWith('/events')) return { body: { status: 'succeeded' } };
      open(response).end(': nothing more\n\n');
      return undefined;
    });
    expect(await collect(client.events('inv_1', { ...quick, last_event_id: '9' }))).toEqual([]);
  });

  it('leave out kinds of events that are not known yet', async () => {
    const { client } = await connect(
      (_, response) => void open(response).end(`id: 1\nevent: telemetry\ndata: ?\n\n${result(2)}`),
    );
    expect(await collect(client.events('inv_1'))).toEqual(['2 result']);
  });

  it('end with an error after the retries are used up', async () => {
    const { client, seen } = await connect((_, response, nth) => {
      if (nth === 1) open(response).write(status(1, 'running'), () => response.destroy());
      else response.destroy();
      return undefined;
    });
    await expect(collect(client.events('inv_1', { ...quick, retries: 3 }))).rejects.toThrow('Lost the connection');
    expect(seen).toHaveLength(4);
  });

  it('are not tried again when the first connection fails or the gateway refuses', async () => {
    const problem = { status: 404, detail: 'no such invocation', code: 3004, suggestion: 'Check the id.' };
    const { client, seen, close } = await connect(() => ({ status: 404, body: problem }));
    await expect(collect(client.events('inv_1'))).rejects.toThrow('no such invocation');
    expect(seen).toHaveLength(1);
    await close();
    await expect(collect(client.events('inv_1'))).rejects.toThrow('Cannot reach');
  });

  it('stop with the signal', async () => {
    const controller = new AbortController();
    const { client } = await connect((_, response) => void open(response).write(status(1, 'running')));
    const seen: string[] = [];
    const pending = (async () => {
      for await (const { id } of client.events('inv_1', { signal: controller.signal })) {
        seen.push(id);
        controller.abort(new Error('enough'));
      }
    })();
    await expect(pending).rejects.toThrow('enough');
    expect(seen).toEqual(['1']);
  });
});

describe('waiting', () => {
  const detail = (value: string) => ({ body: { invocation_id: 'inv_1', status: value } });

  it('answers the invocation once it has ended', async () => {
    const { client, seen } = await connect(({ path }, response) => {
      if (!path.endsWith('/events')) return detail('succeeded');
      open(response).write(status(1, 'running') + status(2, 'succeeded'));
      return undefined;
    });
    expect(await client.wait('inv_1')).toMatchObject({ status: 'succeeded' });
    expect(seen.map(({ path }) => path)).toEqual(['/v1/invocations/inv_1/events', '/v1/invocations/inv_1']);
  });

  it('goes on after the end of an earlier try of one that was redriven', async () => {
    const { client } = await connect(({ path }, response, nth) => {
      if (!path.endsWith('/events')) return detail(nth === 2 ? 'running' : 'succeeded');
      open(response).write(status(1, 'failed') + status(2, 'queued') + status(3, 'succeeded'));
      return undefined;
    });
    expect(await client.wait('inv_1')).toMatchObject({ status: 'succeeded' });
  });

  it('answers the invocation as it stands when the time is up', async () => {
    const { client } = await connect(({ path }, response) => {
      if (!path.endsWith('/events')) return detail('running');
      open(response).write(status(1, 'running'));
      return undefined;
    });
    expect(await client.wait('inv_1', { timeout_s: 0.05 })).toMatchObject({ status: 'running' });
  });

  it('can end at another status', async () => {
    const { client } = await connect(({ path }, response) => {
      if (!path.endsWith('/events')) return detail('held');
      open(response).write(status(1, 'held'));
      return undefined;
    });
    expect(await client.wait('inv_1', { until: (value) => value === 'held' })).toMatchObject({ status: 'held' });
  });

  it('lets the gateway hold the answer of a submission first, and goes on by events', async () => {
    const { client, seen } = await connect(({ method, path }, response) => {
      if (method === 'POST') return { status: 202, body: { invocation_id: 'inv_1', status: 'running' } };
      if (!path.endsWith('/events')) return detail('succeeded');
      open(response).end(result(1));
      return undefined;
    });
    expect(await client.submit({ tool_id: 'cap:x:y' }, { wait_s: 300 })).toMatchObject({ status: 'succeeded' });
    expect(seen[0]?.headers.prefer).toBe('wait=20');
    expect(seen).toHaveLength(3);
  });

  it('takes the terminal answer of a submission as it is', async () => {
    const { client, seen } = await connect(() => detail('succeeded'));
    expect(await client.submit({ tool_id: 'cap:x:y' }, { wait_s: 2 })).toMatchObject({ status: 'succeeded' });
    expect(seen).toHaveLength(1);
    expect(seen[0]?.headers.prefer).toBe('wait=2');
  });
});
