import { randomInt } from 'node:crypto';
import { visibleText } from '@capstan/contracts/visible-text';
import pc from 'picocolors';

export type Colors = ReturnType<typeof pc.createColors>;

/** Stands before each escape sequence of our own until it is written. Nobody else can know it: it is drawn at every start. */
const MARK = Array.from({ length: 4 }, () => String.fromCodePoint(0x10_0000 + randomInt(0xfff0))).join('');
const ESC = '\u001b';
const OWN = new RegExp(`${MARK}(${ESC}\\[[0-9;]*m)`);
const UNMARKED = new RegExp(`(?<!${MARK})${ESC}`, 'g');

/** Colours whose escape sequences `showText` knows from those that a tool wrote. */
export const createColors = (enabled: boolean): Colors => {
  const plain = pc.createColors(enabled);
  if (!enabled) return plain;
  const marked = Object.entries(plain).map(([name, paint]) => [
    name,
    typeof paint === 'function' ? (text: string) => paint(shown(text, true)).replace(UNMARKED, MARK + ESC) : paint,
  ]);
  return { ...plain, ...Object.fromEntries(marked) };
};

/** What is written of a text: our own colours, and everything else made visible, unless it is asked for as it is. */
export const showText = (text: string, raw: boolean): string => (raw ? text.replaceAll(MARK, '') : shown(text, false));

const shown = (text: string, keep_marks: boolean): string =>
  String(text)
    .split(OWN)
    .map((part, at) => (at % 2 === 0 ? visibleText(part) : (keep_marks ? MARK : '') + part))
    .join('');
