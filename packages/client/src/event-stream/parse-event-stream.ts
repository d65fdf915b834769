import { splitLines } from './split-lines.js';

export type StreamMessage = { id: string; event: string; data: string };

/** Parses server-sent events (WHATWG HTML) from raw bytes. */
export async function* parseEventStream(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<StreamMessage> {
  let id = '';
  let event = '';
  let data: string[] = [];
  for await (const line of splitLines(chunks)) {
    if (line === '') {
      if (data.length > 0) yield { id, event: event === '' ? 'message' : event, data: data.join('\n') };
      event = '';
      data = [];
      continue;
    }
    const [field, value] = splitField(line);
    if (field === 'data') data.push(value);
    else if (field === 'event') event = value;
    else if (field === 'id' && !value.includes('\0')) id = value;
  }
}

/** A line that starts with a colon is a comment: a field without a name. */
const splitField = (line: string): [field: string, value: string] => {
  const colon = line.indexOf(':');
  if (colon === -1) return [line, ''];
  const start = line[colon + 1] === ' ' ? colon + 2 : colon + 1;
  return [line.slice(0, colon), line.slice(start)];
};
