import { DumpStage } from './dump-stage.js';
import type { Finder, Scanner } from './scanner.js';

/**
 * What begins like a dump row, at the start of a JSON string or after an escaped line end in one: an offset, then a cell or more than one blank. An
 * address (`"1200 Market Street"`) is none, because reading rows takes long.
 */
const ROW = /("|\\n)(?=[ \t]{0,16}(?:0x)?[0-9a-fA-F]{4,16}:?[ \t](?:[ \t]|[0-9a-fA-F]{2,24}[ \t"\\]))/g;
/** The end of a text that may turn out to be such a beginning. */
const UNDECIDED = /(?:\\|(?:"|\\n)[ \t]{0,16}(?:0x)?[0-9a-fA-F]{0,16}:?(?:[ \t][0-9a-fA-F]{0,24})?)$/;
/** A longer line is no dump row. */
const MAX_LINE = 4096;

/** True if a string of JSON text has a line that begins like a dump row. */
export const holdsJsonRow = (text: string): boolean => text.search(ROW) >= 0;

/** A line as it is written in a JSON string, as it is meant, and what ends it. */
type Line = { written: string; meant: string; end: string };

/**
 * Redacts known values in dumps that are inside strings of JSON text, where `\n` ends a row:
 *
 *     {"out":"00000010: 6e74 6572 322d  hunter2-\n00000018: …"}
 *
 * From the first row to the end of the string, lines are decoded and given to a `DumpStage`. Those that it changes are encoded again.
 */
export class JsonDumpStage implements Scanner {
  readonly #finders: readonly Finder[];
  /** Reads the rows of the current string. Null outside of strings with rows. */
  #rows: DumpStage | null = null;
  /** The lines that it has not returned yet. */
  #lines: Line[] = [];
  #text = '';

  constructor(finders: readonly Finder[]) {
    this.#finders = finders;
  }

  push(chunk: string): string {
    this.#text += chunk;
    return this.#advance(false);
  }

  end(): string {
    return this.#advance(true);
  }

  #advance(final: boolean): string {
    let out = '';
    for (let done = false; !done; ) {
      const before = this.#rows;
      const step = before ? this.#takeLine(before, final) : this.#takePlain(final);
      out += step.out;
      this.#text = this.#text.slice(step.taken);
      done = step.done;
    }
    return out;
  }

  /** Takes what is before the next row. */
  #takePlain(final: boolean): { out: string; taken: number; done: boolean } {
    ROW.lastIndex = 0;
    const found = ROW.exec(this.#text);
    if (found) {
      this.#rows = new DumpStage(this.#finders);
      const taken = found.index + found[0].length;
      return { out: this.#text.slice(0, taken), taken, done: false };
    }
    const undecided = final ? -1 : this.#text.search(UNDECIDED);
    const taken = undecided < 0 ? this.#text.length : undecided;
    return { out: this.#text.slice(0, taken), taken, done: true };
  }

  /** Takes the next line of a string, or leaves the string if it ends there. */
  #takeLine(rows: DumpStage, final: boolean): { out: string; taken: number; done: boolean } {
    const end = lineEnd(this.#text);
    if (end === undefined) {
      if (!final && this.#text.length < MAX_LINE) return { out: '', taken: 0, done: true };
      return { out: this.#leave(rows), taken: 0, done: false };
    }
    const written = this.#text.slice(0, end);
    const ends = this.#text.startsWith('\\n', end) ? '\\n' : '';
    const line = { written, meant: decoded(written), end: ends };
    this.#lines.push(line);
    const given = this.#given(rows.push(`${line.meant}\n`));
    return { out: ends === '' ? given + this.#leave(rows) : given, taken: end + ends.length, done: false };
  }

  #leave(rows: DumpStage): string {
    this.#rows = null;
    return this.#given(rows.end());
  }

  /** The stage returns one line for each that it was given. */
  #given(lines: string): string {
    let out = '';
    for (const text of lines.split('\n').slice(0, -1)) {
      const { written = '', meant = '', end = '' } = this.#lines.shift() ?? {};
      out += (text === meant ? written : encoded(text)) + end;
    }
    return out;
  }
}

/** The position of what ends the line: an escaped line end, the end of the string, or of the JSON. Undefined if it is not there. */
const lineEnd = (text: string): number | undefined => {
  for (let at = 0; at < Math.min(text.length, MAX_LINE); at += 1) {
    const char = text.charAt(at);
    if (char === '"' || char === '\n') return at;
    if (char !== '\\') continue;
    if (at + 1 >= text.length) return undefined;
    if (text.charAt(at + 1) === 'n') return at;
    at += 1;
  }
  return undefined;
};

const decoded = (written: string): string => {
  if (!written.includes('\\')) return written;
  try {
    const meant: unknown = JSON.parse(`"${written}"`);
    return typeof meant === 'string' && !meant.includes('\n') ? meant : written;
  } catch {
    return written;
  }
};

const encoded = (meant: string): string => JSON.stringify(meant).slice(1, -1);
