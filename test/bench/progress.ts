export interface Progress {
  /** What is being done: one line that is written over on a terminal, nothing in a pipe. */
  doing(text: string): void;
  /** What came of it: the same line on a terminal, a line of its own in a pipe. */
  done(text: string): void;
  /** Nothing more is said, and the terminal's line is empty for what is printed next. */
  end(): void;
}

export function openProgress(stream: NodeJS.WriteStream): Progress {
  let ended = false;
  const overwrite = (text: string) => stream.write(`\r\x1b[2K${text.slice(0, (stream.columns || 80) - 1)}`);
  return {
    doing(text) {
      if (!ended && stream.isTTY) overwrite(text);
    },
    done(text) {
      if (ended) return;
      if (stream.isTTY) overwrite(text);
      else stream.write(`${text}\n`);
    },
    end() {
      ended = true;
      if (stream.isTTY) overwrite('');
    },
  };
}
