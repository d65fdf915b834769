/** The lines of a byte stream, ended by LF, CR or CRLF; an unfinished last line is dropped, as event streams ask. */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  let afterCarriageReturn = false;
  for await (const chunk of chunks) {
    let text = decoder.decode(chunk, { stream: true });
    // The CR that ended the last chunk has ended its line already; its LF belongs to it.
    if (afterCarriageReturn && text.startsWith('\n')) text = text.slice(1);
    else if (text === '') continue;
    afterCarriageReturn = text.endsWith('\r');
    const lines = text.split(/\r\n|\n|\r/);
    lines[0] = rest + lines[0];
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
