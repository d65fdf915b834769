import { once } from 'node:events';
import type { Io, OutputStream } from './io.js';
import { type Colors, createColors, showText } from './own-styles.js';

export type { Colors } from './own-styles.js';

export type Output = {
  colors: Colors;
  /** A person looks at it, on a terminal that can move its cursor. */
  live: boolean;
  tty: boolean;
  /** As they are at the moment: a window may be dragged. */
  readonly columns: number;
  readonly rows: number;
  /**
   * Control characters in the text, whoever wrote them, are made visible; only `colors` pass. Waits while the reader is slower
   * than we are, so that long output never piles up in memory.
   */
  write(text: string): Promise<void>;
  line(text?: string): Promise<void>;
  /** A text with movements of the cursor around it, written in one go. */
  redraw(before: string, text?: string, after?: string): Promise<void>;
  /** The content of a file, as it is. */
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
    // Some terminals say that they have none.
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
