import type { Output } from '../output.js';

export type LiveBlock = { show(lines: readonly string[]): Promise<void>; clear(): Promise<void> };

const upAndClear = (lines: number): string => (lines === 0 ? '' : `\u001b[${lines}A\u001b[0J`);

/** Lines of a terminal that are written over and over, and gone in the end. Each must fit: a line that wraps is two. */
export const createLiveBlock = (output: Output): LiveBlock => {
  let shown = 0;
  return {
    async show(lines) {
      await output.write(`${upAndClear(shown)}${lines.map((line) => `${line}\n`).join('')}`);
      shown = lines.length;
    },
    async clear() {
      if (shown > 0) await output.write(upAndClear(shown));
      shown = 0;
    },
  };
};
