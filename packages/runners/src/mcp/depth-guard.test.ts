import { text } from 'node:stream/consumers';
import { MAX_RESULT_DEPTH } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { serve } from '../testing/serve.js';
import { DepthGuard, type Framing } from './depth-guard.js';
import { textOf, useTestMcp } from './testing/use-test-mcp.js';

const DEEP = '['.repeat(MAX_RESULT_DEPTH + 1);
const HALF = '['.repeat(MAX_RESULT_DEPTH / 2 + 1);
const FITTING = '['.repeat(MAX_RESULT_DEPTH) + ']'.repeat(MAX_RESULT_DEPTH);

const check = (framing: Framing, sent: string, length = sent.length) => {
  const guard = new DepthGuard(framing);
  const bytes = Buffer.from(sent);
  for (let at = 0; at < bytes.length; at += length) guard.check(bytes.subarray(at, at + length));
};

describe('the depth of a message', () => {
  test.each<[name: string, framing: Framing, sent: string]>([
    ['in one piece', 'whole', DEEP],
    ['over several lines', 'whole', `${HALF}\r\n${HALF}`],
    ['after a string with a quote', 'whole', `["\\"",${DEEP}`],
    ['after a quote that its line ends', 'whole', `"\n${DEEP}`],
    ['in a line', 'lines', `{}\n${DEEP}`],
    ['in a line with a carriage return in it', 'lines', `${HALF}\r${HALF}`],
    ['in the data of an event', 'events', `event: message\ndata: ${DEEP}`],
    ['in several lines of data', 'events', `data: ${HALF}\rdata:${HALF}`],
    ['around a comment', 'events', `data: ${HALF}\r\n: "\r\nid: "]]]\r\ndata: ${HALF}`],
    ['after a byte order mark', 'events', `\ufeffdata: ${DEEP}`],
  ])('is refused %s', (_, framing, sent) => {
    expect(() => check(framing, sent)).toThrow('nested deeper than 1000 levels');
    expect(() => check(framing, sent, 1)).toThrow('nested deeper than 1000 levels');
  });

  test.each<[name: string, framing: Framing, sent: string]>([
    ['that is just allowed', 'whole', FITTING],
    ['of brackets in a string', 'whole', `["${DEEP}"]`],
    ['of several messages', 'lines', `${HALF}\r\n${HALF}\n`],
    ['of several events', 'events', `data: ${HALF}\r\n\r\ndata: ${HALF}\n\n`],
    ['of what is no data', 'events', `: ${DEEP}\nid: ${DEEP}\ndatum: ${DEEP}\n`],
  ])('%s passes', (_, framing, sent) => {
    expect(() => check(framing, sent)).not.toThrow();
    expect(() => check(framing, sent, 1)).not.toThrow();
  });
});

describe('a server that answers with extreme nesting', async () => {
  const { servers, run } = await useTestMcp();
  const initialized = (message: { id: number; params: { protocolVersion: string } }) => ({
    jsonrpc: '2.0',
    id: message.id,
    result: {
      protocolVersion: message.params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'deep', version: '1' },
    },
  });

  /** It is valid in all other respects. */
  const deepAnswer = (id: number) =>
    JSON.stringify({ jsonrpc: '2.0', id, result: { content: [], structuredContent: { deep: 'here' } } }).replace(
      '"here"',
      '['.repeat(MAX_RESULT_DEPTH) + ']'.repeat(MAX_RESULT_DEPTH),
    );

  test('as a program is stopped, and the call reports why', async () => {
    const program = `
      const initialized = ${initialized};
      require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
        const message = JSON.parse(line);
        if (message.method === 'initialize') console.log(JSON.stringify(initialized(message)));
        if (message.method === 'tools/call') process.stdout.write('['.repeat(100000));
      });`;
    servers.set('deep', { name: 'deep', command: 'node', args: ['-e', program] });
    const outcome = await run('deep', 'echo');
    expect(outcome).toMatchObject({ success: false, kind: 'MCP_SERVER_FAILED' });
    expect(textOf(outcome)).toContain('sent a message nested deeper than 1000 levels');
  });

  test.each(['application/json', 'text/event-stream'])('as an endpoint fails that call, in %s', async (type) => {
    const url = await serve((request, response) => {
      void text(request).then((body) => {
        const message = body === '' ? {} : JSON.parse(body);
        if (message.method === 'initialize') {
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(JSON.stringify(initialized(message)));
        } else if (message.method === 'tools/call') {
          response.writeHead(200, { 'content-type': type });
          response.end(`${type === 'text/event-stream' ? 'data: ' : ''}${deepAnswer(message.id)}\n\n`);
        } else response.writeHead(request.method === 'POST' ? 202 : 405).end();
      });
    });
    const name = type.replace('/', '-');
    servers.set(name, { name, url: `${url}/mcp` });
    const outcome = await run(name, 'echo');
    expect(outcome.success).toBe(false);
    expect(textOf(outcome)).toContain('nested deeper than 1000 levels');
  });
});
