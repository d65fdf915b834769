import type { CharClass } from './char-class.js';

/** The text as far as it is known, and where the runs in it end. Places are relative to `text`. */
export type View = {
  readonly text: string;
  /** Nothing comes after the text. */
  readonly final: boolean;
  /** Where the run of members that begins at `at` ends. Asked again inside of a run, it answers without looking. */
  runEnd(members: CharClass, at: number): number;
};

export type Found = {
  readonly from: number;
  readonly to: number;
  /** The secret reached the end of the text and goes on over these characters. */
  readonly rest?: CharClass;
};
/** More text is needed to tell; what is before `hold` may be given back meanwhile. */
export type Undecided = { readonly hold: number };
export type Verdict = Found | Undecided | null;

/**
 * What one class of secrets looks like. Wherever one of the anchors stands (in any case), `match` looks at what surrounds
 * it: at most `LOOK_BEHIND` characters before, and a bounded number after.
 */
export type Rule = {
  readonly id: string;
  readonly anchors: readonly string[];
  /** The anchor belongs to the secret, so a beginning of it at the end of a chunk is held back. */
  readonly hidden: boolean;
  /** Its anchor only marks a place, for the rules that ask how long ago that was. */
  readonly mark?: boolean;
  /** Whether the secret may begin at `at`, as far as what stands before tells. */
  begins?(text: string, at: number): boolean;
  match(view: View, at: number, end: number, since_mark: number): Verdict;
};

export const LOOK_BEHIND = 128;

const WORD = /[A-Za-z0-9]/;
/**
 * A token begins here: not in the midst of a word. An escape before it (`\n` in JSON, `%3D` in a URL) ends in a letter
 * but is no word.
 */
export const isBoundary = (text: string, at: number): boolean => {
  if (at === 0 || !WORD.test(text.charAt(at - 1))) return true;
  if (text.charAt(at - 2) === '\\') return 'nrtbf'.includes(text.charAt(at - 1));
  return text.charAt(at - 3) === '%';
};
