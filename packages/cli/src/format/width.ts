/** What a terminal draws in two columns: East Asian wide and full-width characters, and what is an emoji by itself. */
const WIDE =
  /[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\u4dbf\u4e00-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u;
/** What a selector makes an emoji of. */
const MADE_EMOJI = /\p{Emoji}\ufe0f/u;
/** Accents, joiners and the like, drawn over what stands before them. */
const WITHOUT_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/gu;
const ASCII = /^[ -~]*$/;

/** How many columns of a terminal a text takes, without colours in it. */
export const widthOf = (text: string): number =>
  ASCII.test(text) ? text.length : graphemesOf(text).reduce((sum, each) => sum + widthOfGrapheme(each), 0);

/** At most so many columns of it, with … in place of the rest. Null cuts nothing. */
export const cut = (text: string, columns: number | null): string => {
  if (columns === null || widthOf(text) <= columns) return text;
  return columns < 1 ? '' : `${take(graphemesOf(text), columns - 1).join('')}…`;
};

/** The same of a text whose end says more than its start. */
export const cutStart = (text: string, columns: number): string => {
  if (widthOf(text) <= columns) return text;
  return columns < 1
    ? ''
    : `…${take(graphemesOf(text).reverse(), columns - 1)
        .reverse()
        .join('')}`;
};

/** Exactly so many columns of a text that is no wider. */
export const fill = (text: string, columns: number, align?: 'right'): string => {
  const space = ' '.repeat(Math.max(0, columns - widthOf(text)));
  return align === 'right' ? space + text : text + space;
};

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

/** What is drawn as one. The segmenter takes 35 ms to load, which text without anything to be joined need not wait for. */
const graphemesOf = (text: string): string[] => {
  if (!JOINED.test(text)) return [...text];
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
};

/** Marks and joiners, skin tones, the letters of flags, and the parts of Hangul syllables. */
const JOINED = /[\p{Mn}\p{Me}\p{Mc}\p{Cf}\p{Emoji_Modifier}\p{Regional_Indicator}\u1100-\u11ff]/u;
