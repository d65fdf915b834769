import type { Output } from '../output.js';
import { wrapProse } from './width.js';

export type Field = readonly [name: string, value: string | null | undefined];

/** Formats names and values, one pair per line. Pairs without a value are left out. */
export const formatFields = (fields: readonly Field[], out: Output): string[] => {
  const present = fields.filter(([, value]) => value !== null && value !== undefined && value !== '');
  const width = present.reduce((widest, [name]) => Math.max(widest, name.length), 0);
  return present.map(
    ([name, value]) => `  ${out.colors.dim(name.padEnd(width))}  ${wrapProse(value ?? '', width + 4, out)}`,
  );
};

/** Indents text by two spaces, below a heading. */
export const indent = (text: string): string => text.replace(/^/gm, '  ');
