export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly retry_after?: string;
}

/** Reads one HTTP/1.1 answer; undefined while its end has not arrived. Throws on what the load generator does not speak. */
export function readAnswer(received: Buffer): Answer | undefined {
  const head_end = received.indexOf('\r\n\r\n');
  if (head_end === -1) return undefined;
  const head = received.toString('latin1', 0, head_end);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (!head.startsWith('HTTP/1.1 ')) throw new Error(`not an HTTP/1.1 answer: ${head.slice(0, 40)}`);
  if (length === undefined) throw new Error(`an answer without a content-length: ${head}`);
  const body_start = head_end + 4;
  const body_end = body_start + Number(length);
  if (received.length < body_end) return undefined;
  const retry_after = /\r\nretry-after: *([^\r]+)/i.exec(head)?.[1];
  return {
    status: Number(head.slice(9, 12)),
    body: received.toString('utf8', body_start, body_end),
    ...(retry_after === undefined ? {} : { retry_after }),
  };
}
