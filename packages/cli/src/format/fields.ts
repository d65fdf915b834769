import type { Colors } from '../output.js';

export type Field = readonly [name: string, value: string | null | undefined];

/** Names and values under each other; those without a value are left out. */
export const formatFields = (fields: readonly Field[], colors: Colors): string[] => {
  const present = fields.filter(([, value]) => value !== null && value !== undefined && value !== '');
  const width = present.reduce((widest, [name]) => Math.max(widest, name.length), 0);
  return present.map(([name, value]) => `  ${colors.dim(name.padEnd(width))}  ${value}`);
};

/** Text under a heading, moved in by two. */
export const indent = (text: string): string => text.replace(/^/gm, '  ');
