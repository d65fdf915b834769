import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseEventStream, type StreamMessage } from './parse-event-stream.js';

const collect = async (...chunks: (string | Uint8Array)[]): Promise<StreamMessage[]> => {
  async function* source() {
    for (const chunk of chunks) yield typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk;
  }
  const all: StreamMessage[] = [];
  for await (const message of parseEventStream(source())) all.push(message);
  return all;
};

describe('an event stream', () => {
  it('gives each event with its id, name and data', async () => {
    expect(await collect('id: 1\nevent: status\ndata: {"a":1}\n\nid: 2\nevent: log\ndata: x\n\n')).toEqual([
      { id: '1', event: 'status', data: '{"a":1}' },
      { id: '2', event: 'log', data: 'x' },
    ]);
  });

  it('joins the lines of data with a newline', async () => {
    expect(await collect('data: one\ndata:two\ndata\ndata:  four\n\n')).toEqual([
      { id: '', event: 'message', data: 'one\ntwo\n\n four' },
    ]);
  });

  it('leaves out comments, unknown fields and events without data', async () => {
    expect(await collect(': heartbeat\n\nretry: 10\nevent: status\n\ndata: x\n\n')).toEqual([
      { id: '', event: 'message', data: 'x' },
    ]);
  });

  it('takes LF, CR and CRLF for the end of a line', async () => {
    const expected = [{ id: '7', event: 'log', data: 'a\nb' }];
    for (const end of ['\n', '\r', '\r\n']) {
      const text = ['id: 7', 'event: log', 'data: a', 'data: b', '', ''].join(end);
      expect(await collect(text)).toEqual(expected);
    }
  });

  it('takes a CRLF that is cut in two for one end of a line', async () => {
    expect(await collect('data: a\r', '\ndata: b\r', '\n\r', '\n')).toEqual([
      { id: '', event: 'message', data: 'a\nb' },
    ]);
  });

  it('keeps the id for the events that follow without one', async () => {
    expect((await collect('id: 5\ndata: a\n\ndata: b\n\nid\ndata: c\n\n')).map(({ id }) => id)).toEqual(['5', '5', '']);
  });

  it('drops an event that the end of the stream cut off', async () => {
    expect(await collect('data: whole\n\ndata: half\n')).toEqual([{ id: '', event: 'message', data: 'whole' }]);
  });

  it('skips a byte order mark', async () => {
    expect(await collect(new Uint8Array([0xef, 0xbb, 0xbf]), 'data: x\n\n')).toHaveLength(1);
  });

  it('reads the same however the bytes are cut, also inside a character', async () => {
    const bytes = new TextEncoder().encode(
      '\u{feff}id: é\r\nevent: log\r\ndata: naïve 🛠️ 日本\r\ndata: x\r\n\r\n: c\n\ndata: 🙂\n\n',
    );
    const whole = await collect(bytes);
    expect(whole).toHaveLength(2);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length)), async (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const chunks = at.slice(1).map((end, index) => bytes.slice(at[index], end));
        expect(await collect(...chunks)).toEqual(whole);
      }),
      { numRuns: 200 },
    );
  });
});
