import { randomInt } from 'node:crypto';
import { visibleText } from '@capstan/contracts/visible-text';
import pc from 'picocolors';

export type Colors = ReturnType<typeof pc.createColors>;

/** Marks our own escape sequences until they are written. It is random for each process, so that no tool can forge it. */
const MARK = Array.from({ length: 4 }, () => String.fromCodePoint(0x10_0000 + randomInt(0xfff0))).join('');
const ESC = '\u001b';
const OWN = new RegExp(`${MARK}(${ESC}\\[[0-9;]*m)`);
const UNMARKED = new RegExp(`(?<!${MARK})${ESC}`, 'g');

/** Colors whose escape sequences `showText` can tell from those in the output of a tool. */
export const createColors = (enabled: boolean): Colors => {
  const plain = pc.createColors(enabled);
  if (!enabled) return plain;
  const marked = Object.entries(plain).map(([name, paint]) => [
    name,
    typeof paint === 'function' ? (text: string) => paint(shown(text, true)).replace(UNMARKED, MARK + ESC) : paint,
  ]);
  return { ...plain, ...Object.fromEntries(marked) };
};

/** Escapes all control characters except our own colors. With `raw`, nothing is escaped. */
export const showText = (text: string, raw: boolean): string => (raw ? text.replaceAll(MARK, '') : shown(text, false));

const shown = (text: string, keep_marks: boolean): string =>
  String(text)
    .split(OWN)
    .map((part, at) => (at % 2 === 0 ? visibleText(part) : (keep_marks ? MARK : '') + part))
    .join('');
