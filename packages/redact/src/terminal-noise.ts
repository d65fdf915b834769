import { NOISE } from './noise.js';

/**
 * Where in a terminal sequence a reader is: between sequences, after ESC, after its first characters (`ESC (`), in the parameters of a
 * color, in a string such as a title, or after an ESC in a string. Where the length is bounded, the mode also counts what may follow.
 */
export type TerminalMode = number;
const NONE = 0;
const ESCAPED = 1;
const BEGUN = 2;
const STRING_ESCAPED = 3;
const PARAMETERS = 100;
const STRING = 1000;
/** A longer sequence is treated as text, so that an unterminated sequence cannot hide what follows. */
const MAX_PARAMETERS = 32;
/** The same for strings: of a title or a link. */
const MAX_STRING = 160;

const ESC = 0x1b;
const BELL = 0x07;
const BACKSLASH = 0x5c;
const STRING_END = 0x9c;
/** `[`, or its form in one character. */
const BEGINS_PARAMETERS: ReadonlySet<number> = new Set([0x5b, 0x9b]);
/** `]`, `P`, `X`, `^` and `_`, or their forms in one character. */
const BEGINS_STRING: ReadonlySet<number> = new Set([0x5d, 0x50, 0x58, 0x5e, 0x5f, 0x9d, 0x90, 0x98, 0x9e, 0x9f]);

/** The mode after a character that is noise or part of a sequence; -1 if it is text. */
export const terminalMode = (mode: TerminalMode, code: number): TerminalMode | -1 => {
  if (mode !== NONE) {
    const next = within(mode, code);
    if (next !== undefined) return next;
  }
  if (code === ESC) return ESCAPED;
  if (code >= 0x80 && BEGINS_PARAMETERS.has(code)) return PARAMETERS + MAX_PARAMETERS;
  if (code >= 0x80 && BEGINS_STRING.has(code)) return STRING + MAX_STRING;
  return NOISE[code] === 1 ? NONE : -1;
};

/** Undefined if the character is not part of the sequence. */
const within = (mode: TerminalMode, code: number): TerminalMode | undefined => {
  if (mode >= STRING) {
    if (code === BELL || code === STRING_END) return NONE;
    if (code === ESC) return STRING_ESCAPED;
    return code >= 0x20 && mode > STRING ? mode - 1 : undefined;
  }
  if (mode >= PARAMETERS) {
    if (code >= 0x20 && code < 0x40) return mode > PARAMETERS ? mode - 1 : undefined;
    return code >= 0x40 && code < 0x7f ? NONE : undefined;
  }
  if (mode === STRING_ESCAPED && code === BACKSLASH) return NONE;
  if (mode !== BEGUN && BEGINS_PARAMETERS.has(code)) return PARAMETERS + MAX_PARAMETERS;
  if (mode !== BEGUN && BEGINS_STRING.has(code)) return STRING + MAX_STRING;
  if (code >= 0x20 && code < 0x30) return BEGUN;
  return code >= 0x30 && code < 0x7f ? NONE : undefined;
};

const BEGINNINGS = [ESC, ...[...BEGINS_PARAMETERS, ...BEGINS_STRING].filter((code) => code >= 0x80)];
const MARKS = BEGINNINGS.map((code) => String.fromCharCode(code));

/** True if a terminal sequence may begin with this character. */
export const beginsSequence = (code: number): boolean => BEGINNINGS.includes(code);
/** True if the text may contain a terminal sequence. */
export const holdsSequence = (text: string): boolean => MARKS.some((mark) => text.includes(mark));
