import { holdsSequence, terminalMode } from './terminal-noise.js';

/** The bytes of a row as Latin-1, under one interpretation of its cells. */
export type Reading = { kind: string; text: string; bytes_per_cell: number };
/** A range within a line. */
export type Place = { from: number; to: number };
export type DumpRow = {
  readings: readonly Reading[];
  /** How many characters the offset has. */
  offset_width: number;
  /** The range of a cell, with digits or with characters (`od -c`). */
  cellAt(kind: string, index: number): Place;
  /** The range of the text column that shows these bytes. */
  columnOf(kind: string, bytes: Place): Place | undefined;
};

/** The longest line that is treated as a dump row. `xxd -c 256` writes shorter ones. */
const MAX_ROW = 2048;
const OFFSET = /^[ \t]*(?:0x)?[0-9a-fA-F]{4,16}:?[ \t]/;
const ROW_BEGINNING = /^[ \t]*(?:(?:0x?)?[0-9a-fA-F]{0,16}:?$|(?:0x)?[0-9a-fA-F]{4,16}:?[ \t])/;
const ANY_ROW = /(?:^|\n)[ \t]*(?:0x)?[0-9a-fA-F]{4,16}:?[ \t]/;

/** True if a line of the text begins like a dump row. */
export const holdsRow = (text: string): boolean => ANY_ROW.test(text);
/** True if a line with this beginning may become a dump row. */
export const mayBeRow = (beginning: string): boolean => beginning.length <= MAX_ROW && ROW_BEGINNING.test(beginning);

/** True if a line with this beginning may show the bytes of the row above in another format, as `od -tx1 -c` writes it. */
export const mayRepeatRow = (beginning: string, offset_width: number): boolean =>
  beginning.length <= MAX_ROW && beginning.slice(0, offset_width).trim() === '';

/** Parses such a line, as if it had the offset of the row above. */
export const parseRepeatedRow = (line: string, offset_width: number): DumpRow | undefined =>
  mayRepeatRow(line, offset_width) ? parseDumpRow('0'.repeat(offset_width) + line.slice(offset_width)) : undefined;

/** How tools write numbers. The width of a cell determines the radix and the number of bytes. Words may have either byte order. */
const NOTATIONS: readonly { digits: RegExp; radix: number; width: number; bytes: number; big?: boolean }[] = [
  { digits: /^[0-9a-fA-F]+$/, radix: 16, width: 2, bytes: 1 },
  ...[2, 4, 8].flatMap((bytes) =>
    [false, true].map((big) => ({ digits: /^[0-9a-fA-F]+$/, radix: 16, width: 2 * bytes, bytes, big })),
  ),
  { digits: /^[0-7]+$/, radix: 8, width: 3, bytes: 1 },
  { digits: /^[0-7]+$/, radix: 8, width: 6, bytes: 2 },
  { digits: /^[0-7]+$/, radix: 8, width: 11, bytes: 4 },
  { digits: /^[0-9]+$/, radix: 10, width: 5, bytes: 2 },
  { digits: /^[01]+$/, radix: 2, width: 8, bytes: 1 },
];
const HEX_CELL = /^[0-9a-fA-F]+$/;
const CHARACTERS = 'characters';
const NUMBERS = 'numbers';
/** `od -c` gives each byte four columns. */
const CHARACTER_WIDTH = 4;

/** Parses a dump row with an offset, as written by xxd, hexdump, od, tcpdump and others. Undefined for any other line. */
export const parseDumpRow = (line: string): DumpRow | undefined => {
  // Tested before color sequences are removed, because streams must recognize a row from its raw beginning.
  if (line.length > MAX_ROW || !OFFSET.test(line)) return undefined;
  const { text, places } = withoutSequences(line.replace(/\r?\n?$/, ''));
  const offset = OFFSET.exec(text);
  if (!offset) return undefined;
  const start = offset[0].length - 1;
  const tokens = tokensOf(text, start);
  const { cells, readings, column } = readDigits(text, tokens);
  const characters = readCharacters(text, start);
  if (characters) readings.push(characters);
  const numbers = tokensOfBytes(text, tokens);
  const numbers_column = restAfter(text, tokens, numbers);
  if (numbers.length > 0) readings.push(readNumbers(text, numbers));
  if (readings.length === 0) return undefined;
  const inLine = ({ from, to }: Place): Place => ({ from: places(from), to: places(to - 1) + 1 });
  return {
    readings,
    offset_width: start,
    cellAt: (kind, index) => {
      if (kind === NUMBERS) return inLine(numbers[index] ?? { from: start, to: start });
      const from = start + index * CHARACTER_WIDTH;
      return inLine(kind === CHARACTERS ? { from, to: from + CHARACTER_WIDTH } : (cells[index] ?? { from, to: from }));
    },
    columnOf: (kind, bytes) => {
      const own = kind === NUMBERS ? numbers_column : column;
      if (kind === CHARACTERS || !own) return undefined;
      return inLine(own.exact ? { from: own.from + bytes.from, to: own.from + bytes.to } : own);
    },
  };
};

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09;

const tokensOf = (text: string, start: number): Place[] => {
  const tokens: Place[] = [];
  for (let at = start; at < text.length; ) {
    const from = at;
    while (at < text.length && !isBlank(text.charCodeAt(at))) at += 1;
    if (at > from) tokens.push({ from, to: at });
    else at += 1;
  }
  return tokens;
};

type Column = Place & { exact: boolean };

const readDigits = (text: string, tokens: readonly Place[]) => {
  const width = tokens[0] ? tokens[0].to - tokens[0].from : 0;
  let count = 0;
  for (const { from, to } of tokens) {
    // The last cell of an xxd row may be half a word.
    if (to - from > width || (to - from) % 2 !== width % 2 || !HEX_CELL.test(text.slice(from, to))) break;
    count += 1;
    if (to - from < width) break;
  }
  const all = tokens.slice(0, count);
  // The text column may look like more digits.
  for (let used = 1; used <= count; used += 1) {
    const from = columnStart(text, tokens, used, width);
    if (from < 0) continue;
    const cells = all.slice(0, used);
    const readings = readingsOf(text, cells, width);
    if (readings.some((reading) => shows(text, from, reading.text)))
      return { cells, readings, column: { from, to: text.length, exact: true } };
  }
  return { cells: all, readings: readingsOf(text, all, width), column: restAfter(text, tokens, all) };
};

/** The start of a text column that shows the bytes of the first cells and ends with the line; -1 if there is no room for it. */
const columnStart = (text: string, tokens: readonly Place[], used: number, width: number): number => {
  const last = tokens[used - 1];
  if (!last) return -1;
  const short = last.to - last.from < width ? (width - (last.to - last.from)) / 2 : 0;
  for (const { width: cell, bytes } of NOTATIONS) {
    const from = text.length - (used * bytes - short);
    if (cell === width && from >= last.to + 2 && (tokens[used]?.from ?? text.length) >= from) return from;
  }
  return -1;
};

const shows = (text: string, from: number, bytes: string): boolean => {
  if (text.length - from !== bytes.length) return false;
  for (let at = 0; at < bytes.length; at += 1) {
    const shown = text.charCodeAt(from + at);
    if (shown !== bytes.charCodeAt(at) && shown !== 0x2e && shown < 0x7f) return false;
  }
  return true;
};

/** The text after the digits, without its bars if it has any. If its layout is unknown, the whole text counts as the column. */
const restAfter = (text: string, tokens: readonly Place[], cells: readonly Place[]): Column | undefined => {
  const first = tokens[cells.length];
  if (!first) return undefined;
  const framed = /^[|>].*[|<]$/.test(text.slice(first.from));
  return framed
    ? { from: first.from + 1, to: text.length - 1, exact: true }
    : { from: first.from, to: text.length, exact: false };
};

const readingsOf = (text: string, cells: readonly Place[], width: number): Reading[] =>
  NOTATIONS.filter((notation) => notation.width === width && cells.length > 0).flatMap(
    ({ digits, radix, bytes, big = false }) => {
      let out = '';
      for (const { from, to } of cells) {
        const cell = text.slice(from, to);
        if (!digits.test(cell)) return [];
        const size = radix === 16 ? cell.length / 2 : bytes;
        const word = bytesOf(cell, radix, size);
        if (word === undefined) return [];
        out += big || size === 1 ? word : [...word].reverse().join('');
      }
      return [{ kind: `${radix}/${bytes}/${big}`, text: out, bytes_per_cell: bytes }];
    },
  );

/** The bytes of a number, most significant first. Undefined if it does not fit. */
const bytesOf = (digits: string, radix: number, size: number): string | undefined => {
  if (radix === 16) return Buffer.from(digits, 'hex').toString('latin1');
  const value = Number.parseInt(digits, radix);
  if (value >= 256 ** size) return undefined;
  return Buffer.from(value.toString(16).padStart(size * 2, '0'), 'hex').toString('latin1');
};

const BYTE = /^(?:-?(?:1?\d?\d)|2[0-4]\d|25[0-5])$/;

/** The cells of `od -tu1` and `od -td1`, which are of different width. */
const tokensOfBytes = (text: string, tokens: readonly Place[]): Place[] => {
  const end = tokens.findIndex(({ from, to }) => !BYTE.test(text.slice(from, to)));
  return end < 0 ? [...tokens] : tokens.slice(0, end);
};

const readNumbers = (text: string, cells: readonly Place[]): Reading => {
  const bytes = cells.map(({ from, to }) => String.fromCharCode(Number(text.slice(from, to)) & 0xff));
  return { kind: NUMBERS, text: bytes.join(''), bytes_per_cell: 1 };
};

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

/** Reads the cells of `od -c` and `hexdump -c`: a character, an escape or three octal digits each. */
const readCharacters = (text: string, start: number): Reading | undefined => {
  let out = '';
  for (let at = start; at < text.length; at += CHARACTER_WIDTH) {
    const cell = text.slice(at, at + CHARACTER_WIDTH);
    const shown = cell.trimStart();
    if (cell.length < CHARACTER_WIDTH || !/^[ \t]/.test(cell) || /\s/.test(shown)) return undefined;
    if (shown.length <= 1) out += shown || ' ';
    else if (/^[0-7]{3}$/.test(shown)) out += String.fromCharCode(Number.parseInt(shown, 8) & 0xff);
    else out += shown.startsWith('\\') ? (ESCAPED[shown.charAt(1)] ?? '\0') : '\0';
  }
  return out === '' ? undefined : { kind: CHARACTERS, text: out, bytes_per_cell: 1 };
};

/** Removes color sequences from a line, and maps positions back to the original. */
const withoutSequences = (line: string): { text: string; places(at: number): number } => {
  if (!holdsSequence(line)) return { text: line, places: (at) => at };
  const kept: number[] = [];
  let mode = 0;
  for (let at = 0; at < line.length; at += 1) {
    const next = terminalMode(mode, line.charCodeAt(at));
    if (next < 0 || (mode === 0 && isBlank(line.charCodeAt(at)))) kept.push(at);
    mode = Math.max(0, next);
  }
  return { text: kept.map((at) => line.charAt(at)).join(''), places: (at) => kept[at] ?? line.length };
};
