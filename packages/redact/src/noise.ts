/**
 * What stands between the characters of a secret without being part of it: blanks and line ends (wrapped base64), controls
 * (the zero bytes of UTF-16), characters without a width, and the sequences that colour a terminal.
 */
const RANGES: readonly (readonly [from: number, to: number])[] = [
  [0x00, 0x20],
  [0x7f, 0xa0],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
];
/** 1 for each character that is noise. A table, because it is asked for every character of every text. */
export const NOISE = new Uint8Array(0x1_0000);
for (const [from, to] of RANGES) NOISE.fill(1, from, to + 1);

/** Those beyond ASCII. */
export const WIDE_NOISE: readonly number[] = [...NOISE.keys()].filter((code) => code > 127 && NOISE[code] === 1);

const ESC = 0x1b;
const CSI = 0x9b;
/** What a terminal's sequence begins with. */
export const ESCAPES: readonly number[] = [ESC, CSI];
const BRACKET = 0x5b;
/** Nobody writes more parameters; what goes on for longer is text again, so that no sequence hides what follows. */
const MAX_PARAMETERS = 32;

/** 0: the text is in no sequence; 1: after ESC; above: in the parameters of a CSI, and how many of them may follow. */
export type EscapeMode = number;
/** The mode after a character that is noise, or that stands in a sequence; -1 when it is text. */
export const noiseMode = (mode: EscapeMode, code: number): EscapeMode | -1 => {
  if (mode === 1 && code === BRACKET) return MAX_PARAMETERS;
  if (mode > 1) {
    if (code >= 0x20 && code < 0x40 && mode > 2) return mode - 1;
    // The letter that ends a sequence.
    if (code >= 0x40 && code < 0x7f) return 0;
  }
  if (code === ESC) return 1;
  if (code === CSI) return MAX_PARAMETERS;
  return NOISE[code] === 1 ? 0 : -1;
};

/** Whether a terminal's sequence may begin in the text. */
export const holdsSequence = (text: string): boolean => text.includes('\u001b') || text.includes('\u009b');

/** A text without its noise: two texts that look the same have the same skeleton. */
export const skeletonOf = (text: string): string => {
  let out = '';
  let mode: EscapeMode = 0;
  for (let at = 0; at < text.length; at += 1) {
    const next = noiseMode(mode, text.charCodeAt(at));
    if (next < 0) out += text.charAt(at);
    mode = Math.max(0, next);
  }
  return out;
};
