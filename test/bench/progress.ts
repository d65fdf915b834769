export interface Progress {
  /** What is being done: one line that is written over on a terminal, nothing in a pipe. */
  doing(text: string): void;
  /** What came of it: the same line on a terminal, a line of its own in a pipe. */
  done(text: string): void;
  /** Leaves the terminal's line empty for what is printed next. */
  clear(): void;
}

export function openProgress(stream: NodeJS.WriteStream): Progress {
  const overwrite = (text: string) => stream.write(`\r\x1b[2K${text.slice(0, (stream.columns || 80) - 1)}`);
  if (stream.isTTY) return { doing: overwrite, done: overwrite, clear: () => overwrite('') };
  return { doing: () => {}, done: (text) => stream.write(`${text}\n`), clear: () => {} };
}
