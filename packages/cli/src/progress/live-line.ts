import type { Output } from '../output.js';

const CLEAR_LINE = '\r\u001b[2K';

export type LiveLine = { show(text: string): Promise<void>; clear(): Promise<void> };

/** One line of a terminal that is redrawn and finally cleared. The cursor is not hidden: a killed process could not restore it. */
export const createLiveLine = (output: Output): LiveLine => {
  let shown = false;
  return {
    async show(text) {
      await output.redraw(CLEAR_LINE, text);
      shown = true;
    },
    async clear() {
      if (shown) await output.redraw(CLEAR_LINE);
      shown = false;
    },
  };
};
