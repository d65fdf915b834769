export interface Progress {
  /** Shows the current step: one line that is overwritten on a terminal, nothing in a pipe. */
  doing(text: string): void;
  /** Shows the result: on the same line on a terminal, on a new line in a pipe. */
  done(text: string): void;
  /** Clears the terminal's line for the next output. */
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
