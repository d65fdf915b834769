import { once } from 'node:events';
import type { Io, OutputStream } from './io.js';
import { type Colors, createColors, showText } from './own-styles.js';

export type { Colors } from './own-styles.js';

export type Output = {
  colors: Colors;
  /** True on a terminal that can move its cursor. */
  live: boolean;
  tty: boolean;
  /** Read anew each time, because a window may be resized. */
  readonly columns: number;
  readonly rows: number;
  /**
   * Escapes control characters in the text, except those of `colors`. Waits for a slow reader, so that long output does not
   * pile up in memory.
   */
  write(text: string): Promise<void>;
  line(text?: string): Promise<void>;
  /** Writes a text and the cursor movements around it in one call. */
  redraw(before: string, text?: string, after?: string): Promise<void>;
  /** Writes bytes unchanged. */
  bytes(content: string | Uint8Array): Promise<void>;
};

const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

export const createOutput = (stream: OutputStream, env: Io['env'], { color = true, raw = false } = {}): Output => {
  const tty = stream.isTTY === true;
  const dumb = env.TERM === 'dumb';
  const noColor = env.NO_COLOR !== undefined && env.NO_COLOR !== '';
  const bytes = async (content: string | Uint8Array): Promise<void> => {
    if (!stream.write(content)) await once(stream, 'drain');
  };
  const write = (text: string): Promise<void> => bytes(showText(text, raw));
  return {
    colors: createColors(color && tty && !dumb && !noColor),
    live: tty && !dumb,
    tty,
    // Some terminals report 0.
    get columns() {
      return stream.columns || DEFAULT_COLUMNS;
    },
    get rows() {
      return stream.rows || DEFAULT_ROWS;
    },
    write,
    line: (text = '') => write(`${text}\n`),
    redraw: (before, text = '', after = '') => bytes(before + showText(text, raw) + after),
    bytes,
  };
};
