import { once } from 'node:events';
import pc from 'picocolors';
import type { Io, OutputStream } from './io.js';

export type Colors = ReturnType<typeof pc.createColors>;

export type Output = {
  colors: Colors;
  /** A person looks at it, on a terminal that can move its cursor. */
  live: boolean;
  tty: boolean;
  /** As they are at the moment: a window may be dragged. */
  readonly columns: number;
  readonly rows: number;
  /** Waits while the reader is slower than we are, so that long output never piles up in memory. */
  write(text: string | Uint8Array): Promise<void>;
  line(text?: string): Promise<void>;
};

const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

export const createOutput = (stream: OutputStream, env: Io['env'], { color = true } = {}): Output => {
  const tty = stream.isTTY === true;
  const dumb = env.TERM === 'dumb';
  const noColor = env.NO_COLOR !== undefined && env.NO_COLOR !== '';
  const write = async (text: string | Uint8Array): Promise<void> => {
    if (!stream.write(text)) await once(stream, 'drain');
  };
  return {
    colors: pc.createColors(color && tty && !dumb && !noColor),
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
  };
};
