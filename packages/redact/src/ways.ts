import { NOISE } from './noise.js';
import { beginsSequence, holdsSequence, type TerminalMode, terminalMode } from './terminal-noise.js';

/** The character is noise. */
export const NOTHING = -1;
/** The character belongs to an escape that is not complete yet. */
export const MORE = -2;

/** One way of reading a text: what each character stands for. */
export type Way = {
  /** Returns the code of the character that was read, `NOTHING` or `MORE`. */
  read(code: number): number;
  /** True if what was read so far has no influence on what follows. */
  idle(): boolean;
};

/**
 * A text is read in several ways at once, because a character may belong to a control sequence in one and to a secret in another. In
 * `ESC [ m`, a terminal reads the `m` as the end of a color; in a dump of the bytes, it is a letter.
 */
export const WAYS = [0, 1, 2] as const;
export const newWay = (way: number): Way => (way === 0 ? PLAIN : way === 1 ? new TerminalWay() : new EscapedWay());

const PLAIN: Way = { read: (code) => (NOISE[code] === 1 ? NOTHING : code), idle: () => true };

const BACKSLASH = 0x5c;

/** The index of the way that differs from the plain one from this character on; 0 if none does. */
export const wayFrom = (code: number): number => FIRST[code] ?? 0;
const FIRST = new Uint8Array(256).map((_, code) => (code === BACKSLASH ? 2 : beginsSequence(code) ? 1 : 0));

/** True if there may be more than one way to read the text. */
export const hasWays = (text: string): boolean => text.includes('\\') || holdsSequence(text);

/** As a terminal shows it. */
class TerminalWay implements Way {
  #mode: TerminalMode = 0;

  read(code: number): number {
    const next = terminalMode(this.#mode, code);
    this.#mode = Math.max(0, next);
    return next < 0 ? code : NOTHING;
  }

  idle(): boolean {
    return this.#mode === 0;
  }
}

const LINE_END = 0x0a;
const LETTERS: Readonly<Record<string, number>> = { n: LINE_END, r: LINE_END, t: LINE_END, b: LINE_END, f: LINE_END };
const DIGITS: Readonly<Record<string, number>> = { u: 4, x: 2 };
const NO_DIGIT = -1;

/**
 * Decodes the escapes of JSON and source code, and then reads the text as a terminal shows it: `\n` is a line end, `\u001b[31m` a
 * color, and a backslash before any other character is dropped.
 */
class EscapedWay implements Way {
  readonly #terminal = new TerminalWay();
  #escaped = false;
  /** How many digits of a code are still to come, and the code so far. */
  #digits = 0;
  #code = 0;

  read(code: number): number {
    if (this.#digits > 0) return this.#readDigit(code);
    if (!this.#escaped && code === BACKSLASH) {
      this.#escaped = true;
      return MORE;
    }
    if (!this.#escaped) return this.#terminal.read(code);
    this.#escaped = false;
    const letter = String.fromCharCode(code);
    this.#digits = DIGITS[letter] ?? 0;
    this.#code = 0;
    return this.#digits > 0 ? MORE : this.#terminal.read(LETTERS[letter] ?? code);
  }

  #readDigit(code: number): number {
    const digit = digitOf(code);
    this.#digits = digit === NO_DIGIT ? 0 : this.#digits - 1;
    if (digit === NO_DIGIT) return this.#terminal.read(code);
    this.#code = this.#code * 16 + digit;
    return this.#digits > 0 ? MORE : this.#terminal.read(this.#code);
  }

  idle(): boolean {
    return !this.#escaped && this.#digits === 0 && this.#terminal.idle();
  }
}

const digitOf = (code: number): number => {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : NO_DIGIT;
};
