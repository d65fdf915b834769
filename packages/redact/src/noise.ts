/**
 * Characters that may appear within a secret without being part of it: whitespace and line ends (wrapped base64), control characters
 * (the zero bytes of UTF-16), and characters without width or ink.
 */
const RANGES: readonly (readonly [from: number, to: number])[] = [
  [0x00, 0x20],
  [0x7f, 0xa0],
  [0xad, 0xad],
  // Accents and other marks that are drawn over the character before.
  [0x300, 0x36f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x2000, 0x200f],
  [0x2028, 0x202f],
  [0x205f, 0x206f],
  [0x3000, 0x3000],
  [0x3164, 0x3164],
  // Tags and variation selectors of plane 14, as the two halves of their surrogate pairs.
  [0xdb40, 0xdb40],
  [0xdc00, 0xddef],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff9, 0xfffb],
];
/** 1 for each character that is noise. A table, because every character of every text is looked up. */
export const NOISE = new Uint8Array(0x1_0000);
for (const [from, to] of RANGES) NOISE.fill(1, from, to + 1);

/** Removes noise: two texts that look the same have the same skeleton. */
export const skeletonOf = (text: string): string => {
  let out = '';
  for (let at = 0; at < text.length; at += 1) if (NOISE[text.charCodeAt(at)] !== 1) out += text.charAt(at);
  return out;
};
