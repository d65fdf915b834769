import type { Output } from '../output.js';

export type LiveBlock = { show(lines: readonly string[]): Promise<void>; clear(): Promise<void> };

const upAndClear = (lines: number): string => (lines === 0 ? '' : `\u001b[${lines}A\u001b[0J`);

/** A terminal may draw a character wider than we count it. Without wrapping it then cuts the line. */
const NO_WRAP = '\u001b[?7l';
const WRAP = '\u001b[?7h';

/** Lines of a terminal that are redrawn and finally cleared. Each must fit, because a wrapped line takes two rows. */
export const createLiveBlock = (output: Output): LiveBlock => {
  let shown = 0;
  return {
    async show(lines) {
      await output.redraw(upAndClear(shown) + NO_WRAP, lines.map((line) => `${line}\n`).join(''), WRAP);
      shown = lines.length;
    },
    async clear() {
      if (shown > 0) await output.redraw(upAndClear(shown));
      shown = 0;
    },
  };
};
