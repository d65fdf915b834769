import type { CharClass } from './char-class.js';

/** The text read so far. Positions are relative to `text`. */
export type View = {
  readonly text: string;
  /** True if no more text follows. */
  readonly final: boolean;
  /** The end of the run of members that begins at `at`. Cached for positions within the same run. */
  runEnd(members: CharClass, at: number): number;
};

export type Found = {
  readonly from: number;
  readonly to: number;
  /** The secret reaches the end of the text and continues over these characters. */
  readonly rest?: CharClass;
};
/** More text is needed to decide. Everything before `hold` may be emitted. */
export type Undecided = { readonly hold: number };
export type Verdict = Found | Undecided | null;

/**
 * The format of one kind of secret. Wherever an anchor is found (in any case), `match` examines the text around it: at most
 * `LOOK_BEHIND` characters before, and a bounded number after.
 */
export type Rule = {
  readonly id: string;
  readonly anchors: readonly string[];
  /** True if the anchor is part of the secret, so that a partial anchor at the end of a chunk is held back. */
  readonly hidden: boolean;
  /** True if the anchor only marks a position, for rules that use the distance to it. */
  readonly mark?: boolean;
  /** True if the secret may begin at `at`, judging by the text before it. */
  begins?(text: string, at: number): boolean;
  match(view: View, at: number, end: number, since_mark: number): Verdict;
};

export const LOOK_BEHIND = 128;

const WORD = /[A-Za-z0-9]/;
/**
 * True if a token may begin here, which is not in the middle of a word. An escape (`\n` in JSON, `%3D` in a URL) ends in a letter
 * but is not a word.
 */
export const isBoundary = (text: string, at: number): boolean => {
  if (at === 0 || !WORD.test(text.charAt(at - 1))) return true;
  if (text.charAt(at - 2) === '\\') return 'nrtbf'.includes(text.charAt(at - 1));
  return text.charAt(at - 3) === '%';
};
