import { type CharClass, charClass, isMember } from './char-class.js';
import { entropy } from './entropy.js';
import { isFiller, isPlaceholder } from './placeholder.js';
import { isBoundary, type Rule, type Verdict, type View } from './rule.js';

export type Run = { run: CharClass; min: number; max: number };
/** A literal (one of several), or a run of characters, matched greedily without backtracking. */
export type Part = readonly string[] | Run;

/** A run of at least `min` of these characters. */
export const some = (run: CharClass, min: number, max = Math.max(min, 120)): Part => ({ run, min, max });
export const just = (run: CharClass, length: number): Part => ({ run, min: length, max: length });

export type TokenSpec = {
  readonly id: string;
  readonly anchors: readonly string[];
  readonly parts: readonly Part[];
  /** The least entropy in bits per character. */
  readonly entropy?: number;
  /** Also matches in the middle of a word. */
  readonly anywhere?: boolean;
  /** Matches the anchors in any case. */
  readonly folded?: boolean;
  /** A token longer than its longest form is not a match. Without this option, it is redacted to its end. */
  readonly exact?: boolean;
  readonly accept?: (secret: string) => boolean;
  /** The text that must follow the token. It stays readable. */
  readonly before?: string;
  /** For unique prefixes: a row of `x` is a placeholder, but a row of another letter may be a made-up token and is redacted. */
  readonly filler?: boolean;
  /** The text that must precede the anchor. It stays readable. */
  readonly behind?: RegExp;
  /** The index of the part where the secret begins, if earlier parts may stay readable. */
  readonly hidden_from?: number;
};

const BEHIND = 24;
/** The beginning of a very long token is enough to judge it. */
const MAX_SAMPLE = 48;
/** The characters with which a token may continue. */
const GOES_ON = charClass('A-Z', 'a-z', '0-9', '_', '-', '/+=');

/** A secret that is recognized by its first characters. */
export const tokenRule = (spec: TokenSpec): Rule => ({
  id: spec.id,
  anchors: spec.anchors,
  hidden: spec.hidden_from === undefined,
  begins: (text, at) => begins(spec, text, at),
  match: (view, at, end) => {
    const anchor = view.text.slice(at, end);
    if (!spec.folded && !spec.anchors.includes(anchor)) return null;
    return begins(spec, view.text, at) ? matchParts(spec, view, at, end) : null;
  },
});

const begins = ({ anywhere, behind }: TokenSpec, text: string, at: number): boolean =>
  (anywhere || isBoundary(text, at)) && (!behind || behind.test(text.slice(Math.max(0, at - BEHIND), at)));

const matchParts = (spec: TokenSpec, view: View, at: number, end: number): Verdict => {
  let from = at;
  let to = end;
  let last: Run | undefined;
  for (const [index, part] of spec.parts.entries()) {
    if (index === spec.hidden_from) from = to;
    const next = 'run' in part ? matchRun(part, view, to) : matchOneOf(part, view, to);
    if (next === 'none') return null;
    if (next === 'more') return { hold: spec.hidden_from !== undefined && index < spec.hidden_from ? to : from };
    to = next;
    last = 'run' in part ? part : undefined;
  }
  return concluded(spec, view, from, to, last);
};

const concluded = (spec: TokenSpec, view: View, from: number, to: number, last: Run | undefined): Verdict => {
  if (spec.exact) {
    const goesOn = continues(view, to);
    if (goesOn === undefined) return { hold: from };
    if (goesOn) return null;
  }
  if (spec.before !== undefined) {
    const follows = matchOneOf([spec.before], view, to);
    if (follows === 'more') return { hold: from };
    if (follows === 'none') return null;
  }
  const secret = view.text.slice(from, to);
  if (spec.entropy !== undefined && entropy(spec.exact ? secret : secret.slice(0, MAX_SAMPLE)) < spec.entropy)
    return null;
  if ((spec.filler ? isFiller(secret) : isPlaceholder(secret)) || spec.accept?.(secret) === false) return null;
  if (last === undefined || spec.exact) return { from, to };
  return { from, to: view.runEnd(last.run, to), rest: last.run };
};

/** True if the token continues at `at`; undefined if the text ends first. A dot continues it only if more of a name follows. */
const continues = ({ text, final }: View, at: number): boolean | undefined => {
  if (at >= text.length) return final ? false : undefined;
  const code = text.charCodeAt(at);
  if (code !== 0x2e) return isMember(GOES_ON, code);
  if (at + 1 >= text.length) return final ? false : undefined;
  return isMember(GOES_ON, text.charCodeAt(at + 1));
};

const matchRun = ({ run, min, max }: Run, view: View, at: number): number | 'none' | 'more' => {
  const end = view.runEnd(run, at);
  if (end === view.text.length && end - at < max && !view.final) return 'more';
  return end - at < min ? 'none' : Math.min(end, at + max);
};

/** Matches the longest literal. */
const matchOneOf = (literals: readonly string[], { text, final }: View, at: number): number | 'none' | 'more' => {
  let to = -1;
  for (const literal of literals) {
    if (text.startsWith(literal, at)) to = Math.max(to, at + literal.length);
    else if (!final && literal.startsWith(text.slice(at, at + literal.length))) return 'more';
  }
  return to < 0 ? 'none' : to;
};
