import { inspect } from 'node:util';

/** Text unchanged, everything else as Node.js prints it. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : inspect(value));

export const logLine = (what: readonly unknown[]): string => what.map(textOf).join(' ');

export const progressLine = (fraction: number, message = ''): string =>
  `[${Math.round(fraction * 100)} %] ${message}`.trimEnd();
