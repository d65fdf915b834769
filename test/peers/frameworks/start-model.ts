import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { atEnd } from '../../fixtures/at-end.js';

/**
 * A model that speaks the wire formats of OpenAI (chat completions, plain and streamed, and responses) and Anthropic (messages). Asked
 * anything, it calls the add tool with 2 and 3. Given the result of a tool, it repeats it.
 */
export async function startModel(): Promise<{ url: string; requests: Request[] }> {
  const requests: Request[] = [];
  const server = createServer(async (incoming, response) => {
    const { data: request, error } = Request.safeParse(JSON.parse(await text(incoming)));
    if (request === undefined) return void response.writeHead(400).end(String(error));
    requests.push(request);
    const path = incoming.url ?? '';
    if (path.endsWith('/chat/completions')) return chatCompletion(request, response);
    if (path.endsWith('/responses')) return answer(response, responsesAnswer(request));
    if (path.endsWith('/messages')) return answer(response, anthropicAnswer(request));
    response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => void server.close());
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/v1`, requests };
}

const Named = z.object({ name: z.string() }).loose();
const Message = z
  .object({
    role: z.string().optional(),
    type: z.string().optional(),
    content: z.unknown().optional(),
    output: z.unknown().optional(),
  })
  .loose();
const Request = z
  .object({
    stream: z.boolean().optional(),
    tools: z.array(z.union([z.object({ function: Named }).loose(), Named])).default([]),
    messages: z.array(Message).default([]),
    input: z.union([z.string(), z.array(Message)]).default([]),
  })
  .loose();
export type Request = z.infer<typeof Request>;

const ARGUMENTS = { a: 2, b: 3 };

const toolNames = ({ tools }: Request): string[] =>
  tools.map((tool) => ('function' in tool ? Named.parse(tool.function).name : Named.parse(tool).name));
const adder = (request: Request): string =>
  toolNames(request).find((name) => name.endsWith('add')) ?? 'no_tool_that_adds';

const said = (content: unknown): string => (typeof content === 'string' ? content : JSON.stringify(content));

/** The tool result in the last message, or undefined if no tool has been called yet. */
const toolResult = ({ messages, input }: Request): string | undefined => {
  const last = messages.at(-1) ?? (typeof input === 'string' ? undefined : input.at(-1));
  if (last?.role === 'tool') return said(last.content);
  if (last?.type === 'function_call_output') return said(last.output);
  if (last?.role === 'user' && Array.isArray(last.content) && last.content[0]?.type === 'tool_result')
    return said(last.content[0].content);
  return undefined;
};

const answer = (response: ServerResponse, body: object): void =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));

const chatCompletion = (request: Request, response: ServerResponse): void => {
  const result = toolResult(request);
  const call = {
    id: `call_${randomUUID()}`,
    type: 'function',
    function: { name: adder(request), arguments: JSON.stringify(ARGUMENTS) },
  };
  const message =
    result === undefined
      ? { role: 'assistant', content: null, tool_calls: [call] }
      : { role: 'assistant', content: `The tool says ${result}` };
  const finish_reason = result === undefined ? 'tool_calls' : 'stop';
  const common = { id: `chatcmpl-${randomUUID()}`, created: 1, model: 'stand-in' };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  if (!request.stream) {
    answer(response, {
      ...common,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason }],
      usage,
    });
    return;
  }
  const delta = result === undefined ? { role: 'assistant', tool_calls: [{ index: 0, ...call }] } : message;
  const chunks = [
    { ...common, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: null }] },
    { ...common, object: 'chat.completion.chunk', choices: [{ index: 0, delta: {}, finish_reason }], usage },
  ];
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`);
};

const responsesAnswer = (request: Request): object => {
  const result = toolResult(request);
  const id = randomUUID();
  const item =
    result === undefined
      ? {
          ...{ type: 'function_call', id: `fc_${id}`, call_id: `call_${id}`, status: 'completed' },
          ...{ name: adder(request), arguments: JSON.stringify(ARGUMENTS) },
        }
      : {
          ...{ type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed' },
          content: [{ type: 'output_text', text: `The tool says ${result}`, annotations: [] }],
        };
  const usage = {
    ...{ input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    ...{ input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } },
  };
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'stand-in',
    output: [item],
    usage,
  };
};

const anthropicAnswer = (request: Request): object => {
  const result = toolResult(request);
  const id = randomUUID();
  return {
    ...{ id: `msg_${id}`, type: 'message', role: 'assistant', model: 'stand-in', stop_sequence: null },
    stop_reason: result === undefined ? 'tool_use' : 'end_turn',
    content: [
      result === undefined
        ? { type: 'tool_use', id: `toolu_${id}`, name: adder(request), input: ARGUMENTS }
        : { type: 'text', text: `The tool says ${result}` },
    ],
    usage: { input_tokens: 1, output_tokens: 1 },
  };
};
