import { Failure, type Json, parseJson } from '@capstan/contracts';

/** A response in one piece, or the events of a stream. */
export type Received = { kind: 'body'; body: Json } | { kind: 'chunks'; chunks: Json[] };

/** Accepts a body, an array of chunks or events, or text: JSON, server-sent events, or JSON Lines. */
export function readResponse(response: Json): Received {
  if (typeof response === 'string') return readText(response);
  if (!Array.isArray(response)) return { kind: 'body', body: response };
  return {
    kind: 'chunks',
    chunks: response.flatMap((chunk) => (typeof chunk === 'string' ? chunksOf(chunk) : [chunk])),
  };
}

function readText(text: string): Received {
  const whole = parse(text);
  if (whole !== undefined && typeof whole !== 'string') return readResponse(whole);
  return { kind: 'chunks', chunks: chunksOf(text) };
}

const LINE_ENDS = /\r\n|\n|\r/;

function chunksOf(text: string): Json[] {
  const lines = text.split(LINE_ENDS);
  return lines.some((line) => line.startsWith('data:')) ? eventsOf(lines) : lines.flatMap(chunkOf);
}

/** In server-sent events, consecutive `data` lines form one value. */
function eventsOf(lines: string[]): Json[] {
  const chunks: Json[] = [];
  let data: string[] = [];
  for (const line of [...lines, '']) {
    if (line.startsWith('data:')) data.push(line.slice(line.startsWith('data: ') ? 6 : 5));
    else if (line === '') {
      chunks.push(...eventOf(data));
      data = [];
    }
  }
  return chunks;
}

/** Events are often stored without the empty lines between them. Then each line is a value. */
function eventOf(data: string[]): Json[] {
  if (data.length < 2) return data.flatMap(chunkOf);
  const together = parse(data.join('\n'));
  return together === undefined ? data.flatMap(chunkOf) : [together];
}

const END = '[DONE]';
/** Members of a chunk with a part of a call, in any of the formats. */
const PIECE = /"(delta|tool_calls|function_?call|partial_json|arguments|item|content_block|parts)"/i;

/** An invalid chunk is dropped only if it cannot contain a part of a call; otherwise a call could run with a part missing. */
function chunkOf(text: string): Json[] {
  const trimmed = text.trim();
  if (trimmed === '' || trimmed === END) return [];
  const chunk = parse(trimmed);
  if (chunk !== undefined) return [chunk];
  if (trimmed.startsWith('{') && !PIECE.test(trimmed)) return [];
  throw new Failure('INVALID_REQUEST', {
    detail: `response: neither JSON, nor server-sent events, nor a JSON value a line: ${JSON.stringify(trimmed.slice(0, 80))}`,
  });
}

function parse(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
