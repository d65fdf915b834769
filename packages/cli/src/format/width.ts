/** Characters that terminals draw two columns wide: East Asian wide and full-width ones, and emoji. */
const WIDE =
  /[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\u4dbf\u4e00-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u;
/** Characters that become emoji with a variation selector. */
const MADE_EMOJI = /\p{Emoji}\ufe0f/u;
/** Combining marks, joiners and other characters without a width of their own. */
const WITHOUT_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/gu;
const ASCII = /^[ -~]*$/;

/** The width of a text in terminal columns. The text must not contain color sequences. */
export const widthOf = (text: string): number =>
  ASCII.test(text) ? text.length : graphemesOf(text).reduce((sum, each) => sum + widthOfGrapheme(each), 0);

/** Truncates a text to this many columns, with … at the end. Null means no limit. */
export const cut = (text: string, columns: number | null): string => {
  if (columns === null || widthOf(text) <= columns) return text;
  return columns < 1 ? '' : `${take(graphemesOf(text), columns - 1).join('')}…`;
};

/** The same, but cuts the start, for texts whose end is more informative. */
export const cutStart = (text: string, columns: number): string => {
  if (widthOf(text) <= columns) return text;
  return columns < 1
    ? ''
    : `…${take(graphemesOf(text).reverse(), columns - 1)
        .reverse()
        .join('')}`;
};

/** Pads a text to exactly this many columns. */
export const fill = (text: string, columns: number, align?: 'right'): string => {
  const space = ' '.repeat(Math.max(0, columns - widthOf(text)));
  return align === 'right' ? space + text : text + space;
};

/** Lines of at most so many columns, broken at spaces. What has none, such as a hash, stays whole, so that it can be copied. */
const wrap = (text: string, columns: number): string[] => {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && widthOf(line) + 1 + widthOf(word) <= columns) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
};

/** The lines of a text for people, which continue below their start on a terminal. Lines that begin with a space are left alone: they are code. */
export const wrapProse = (text: string, indent: number, { tty, columns }: { tty: boolean; columns: number }): string =>
  text
    .split('\n')
    .flatMap((line) => (tty && !line.startsWith(' ') ? wrap(line, Math.max(MIN_PROSE, columns - indent)) : [line]))
    .join(`\n${' '.repeat(indent)}`);

const MIN_PROSE = 20;

const take = (graphemes: readonly string[], columns: number): string[] => {
  const taken: string[] = [];
  let room = columns;
  for (const grapheme of graphemes) {
    room -= widthOfGrapheme(grapheme);
    if (room < 0) break;
    taken.push(grapheme);
  }
  return taken;
};

const widthOfGrapheme = (grapheme: string): number =>
  WIDE.test(grapheme) || MADE_EMOJI.test(grapheme) ? 2 : [...grapheme.replace(WITHOUT_WIDTH, '')].length;

let segmenter: Intl.Segmenter | null = null;

/** Splits text into grapheme clusters. The segmenter takes 35 ms to load, so it is used only for text that contains joined characters. */
const graphemesOf = (text: string): string[] => {
  if (!JOINED.test(text)) return [...text];
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
};

/** Marks and joiners, skin tones, regional indicators, and the parts of Hangul syllables. */
const JOINED = /[\p{Mn}\p{Me}\p{Mc}\p{Cf}\p{Emoji_Modifier}\p{Regional_Indicator}\u1100-\u11ff]/u;
