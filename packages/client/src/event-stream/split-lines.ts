/** Splits a byte stream into lines at LF, CR or CRLF. An unfinished last line is dropped, as event streams require. */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  let afterCarriageReturn = false;
  for await (const chunk of chunks) {
    let text = decoder.decode(chunk, { stream: true });
    // The CR at the end of the last chunk already ended its line, so its LF is skipped.
    if (afterCarriageReturn && text.startsWith('\n')) text = text.slice(1);
    else if (text === '') continue;
    afterCarriageReturn = text.endsWith('\r');
    const lines = text.split(/\r\n|\n|\r/);
    lines[0] = rest + lines[0];
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
