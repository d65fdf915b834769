import { holdsSequence, noiseMode } from './noise.js';

/** The bytes of a row, by one reading of its cells, as Latin-1. */
export type Reading = { kind: string; text: string; bytes_per_cell: number };
/** Where something stands in its line. */
export type Place = { from: number; to: number };
export type DumpRow = {
  readings: readonly Reading[];
  /** Of digits and of characters (`od -c`) alike. */
  cellAt(kind: string, index: number): Place;
  /** The column of text beside the digits: what shows these bytes. */
  columnOf(kind: string, bytes: Place): Place | undefined;
};

/** `xxd -c 256` writes less; a longer line is no row of a dump. */
const MAX_ROW = 2048;
const OFFSET = /^[ \t]*(?:0x)?[0-9a-fA-F]{4,16}:?[ \t]/;
const ROW_BEGINNING = /^[ \t]*(?:(?:0x?)?[0-9a-fA-F]{0,16}:?$|(?:0x)?[0-9a-fA-F]{4,16}:?[ \t])/;
const ANY_ROW = /(?:^|\n)[ \t]*(?:0x)?[0-9a-fA-F]{4,16}:?[ \t]/;

/** Whether any line of the text begins like a row of a dump. */
export const holdsRow = (text: string): boolean => ANY_ROW.test(text);
/** Whether a line that has begun like this may become a row. */
export const mayBeRow = (beginning: string): boolean => beginning.length <= MAX_ROW && ROW_BEGINNING.test(beginning);

/** How tools write numbers: the width of a cell tells the radix and the bytes. Words have the order of the machine, or the reverse. */
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
/** `od -c` gives each byte four columns. */
const CHARACTER_WIDTH = 4;

/** A line of a dump with offsets, as xxd, hexdump, od, tcpdump and their like write them. Undefined for any other line. */
export const parseDumpRow = (line: string): DumpRow | undefined => {
  // As it stands: whether a line is a row has to show from its beginning.
  if (line.length > MAX_ROW || !OFFSET.test(line)) return undefined;
  const { text, places } = withoutSequences(line.replace(/\r?\n?$/, ''));
  const offset = OFFSET.exec(text);
  if (!offset) return undefined;
  const start = offset[0].length - 1;
  const tokens = tokensOf(text, start);
  const { cells, readings, column } = readDigits(text, tokens);
  const characters = readCharacters(text, start);
  if (characters) readings.push(characters);
  if (readings.length === 0) return undefined;
  const inLine = ({ from, to }: Place): Place => ({ from: places(from), to: places(to - 1) + 1 });
  return {
    readings,
    cellAt: (kind, index) => {
      const from = start + index * CHARACTER_WIDTH;
      return inLine(kind === CHARACTERS ? { from, to: from + CHARACTER_WIDTH } : (cells[index] ?? { from, to: from }));
    },
    columnOf: (kind, bytes) => {
      if (kind === CHARACTERS || !column) return undefined;
      return inLine(column.exact ? { from: column.from + bytes.from, to: column.from + bytes.to } : column);
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
    // The last cell of xxd may be half a word.
    if (to - from > width || (to - from) % 2 !== width % 2 || !HEX_CELL.test(text.slice(from, to))) break;
    count += 1;
    if (to - from < width) break;
  }
  const all = tokens.slice(0, count);
  // Text beside the digits may look like more of them.
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

/** Where a column would begin that shows the bytes of the first cells and ends with the line; -1 when there is no room. */
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

/** What follows the digits, between its bars where it has any. What is not understood counts as a whole. */
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

/** The bytes of a number, the highest first; undefined when it has more. */
const bytesOf = (digits: string, radix: number, size: number): string | undefined => {
  if (radix === 16) return Buffer.from(digits, 'hex').toString('latin1');
  const value = Number.parseInt(digits, radix);
  if (value >= 256 ** size) return undefined;
  return Buffer.from(value.toString(16).padStart(size * 2, '0'), 'hex').toString('latin1');
};

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

/** `od -c`, `hexdump -c`: a character, an escape or three octal digits in each cell. */
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

/** A line as it looks without its colours, and where each of its characters stands. */
const withoutSequences = (line: string): { text: string; places(at: number): number } => {
  if (!holdsSequence(line)) return { text: line, places: (at) => at };
  const kept: number[] = [];
  let mode = 0;
  for (let at = 0; at < line.length; at += 1) {
    const next = noiseMode(mode, line.charCodeAt(at));
    if (next < 0 || (mode === 0 && isBlank(line.charCodeAt(at)))) kept.push(at);
    mode = Math.max(0, next);
  }
  return { text: kept.map((at) => line.charAt(at)).join(''), places: (at) => kept[at] ?? line.length };
};
