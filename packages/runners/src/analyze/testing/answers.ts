import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JsonObject } from '@capstan/contracts';

export type Asked = { path: string; headers: IncomingMessage['headers']; body: JsonObject };
export type Answer = (response: ServerResponse, asked: Asked) => void;

export const refuse =
  (status: number, headers: Record<string, string> = { 'retry-after': '0' }, message = 'busy'): Answer =>
  (response) =>
    response.writeHead(status, headers).end(JSON.stringify({ error: { message } }));

export const events =
  (lines: string[]): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    // Cut anywhere: a stream knows nothing of events.
    for (const piece of lines.join('').match(/.{1,7}/gs) ?? []) response.write(piece);
    response.end();
  };

export const data = (value: unknown, name?: string) =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;

export const openaiAnswer = (...texts: string[]): Answer =>
  events([
    ...texts.map((content) => data({ model: 'm-1', choices: [{ index: 0, delta: { content }, finish_reason: null }] })),
    data({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    data({ choices: [], usage: { prompt_tokens: 1200, completion_tokens: 34 } }),
    data('[DONE]'),
  ]);

export const anthropicAnswer = (...texts: string[]): Answer =>
  events([
    data(
      { type: 'message_start', message: { model: 'c-1', usage: { input_tokens: 1200, output_tokens: 1 } } },
      'message_start',
    ),
    data({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }, 'content_block_start'),
    data({ type: 'ping' }, 'ping'),
    ...texts.map((text) =>
      data({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }, 'content_block_delta'),
    ),
    data({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 34 } }, 'message_delta'),
    data({ type: 'message_stop' }, 'message_stop'),
  ]);
