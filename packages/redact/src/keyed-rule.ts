import { type CharClass, charClass, isMember } from './char-class.js';
import { isMadeUp } from './placeholder.js';
import type { Rule, Verdict, View } from './rule.js';

export type Keyed = {
  /** The full name that contains the keyword. */
  readonly name: string;
  readonly keyword: string;
  readonly value: string;
};

export type KeyedSpec = {
  readonly id: string;
  readonly anchors: readonly string[];
  readonly accept: (keyed: Keyed) => boolean;
};

const NAME = charClass('A-Z', 'a-z', '0-9', '_.', '-', ' \t');
const NAME_BEFORE = charClass('A-Z', 'a-z', '0-9', '_.', '-');
const QUOTE = charClass(' \t\r\n\'"\\');
const QUOTE_AFTER = charClass(' \t\r\n\'"`=\\');
const OPERATOR = charClass('=>:|?,');
/** The characters that end a value. */
const VALUE_END = charClass(' \t\r\n\'"`;\\<&,)}]');
const VALUE = VALUE_END.map((ends) => 1 - ends);
const OPERATORS: ReadonlySet<string> = new Set([
  '=',
  '>',
  ':',
  ',',
  '=>',
  ':=',
  '::=',
  ':::=',
  '||',
  '?=',
  '==',
  '===',
  '??=',
]);

const MAX_NAME_BEFORE = 50;
const MAX_NAME_AFTER = 20;
const MAX_QUOTES = 4;
const MAX_VALUE = 400;

/**
 * A secret that is recognized by its name: `SERVICE_API_KEY = "…"`, in the syntax of most languages and formats. The name stays
 * readable. The rule decides which values it accepts.
 */
export const keyedRule = ({ id, anchors, accept }: KeyedSpec): Rule => ({
  id,
  anchors,
  hidden: false,
  match: (view, at, end) => {
    const name_to = upTo(NAME, view, end, MAX_NAME_AFTER);
    const operator_at = upTo(QUOTE, view, name_to, MAX_QUOTES);
    const value_at = afterOperator(view, operator_at);
    if (typeof value_at !== 'number') return value_at;
    return matchValue(view, at, end, name_to, value_at, accept);
  },
});

const matchValue = (
  view: View,
  at: number,
  end: number,
  name_to: number,
  value_at: number,
  accept: KeyedSpec['accept'],
): Verdict => {
  const { text, final } = view;
  const value_to = view.runEnd(VALUE, value_at);
  if (value_to - value_at > MAX_VALUE) return null;
  if (value_to === text.length && !final) return { hold: value_at };
  // A non-ASCII letter: prose, or a format that these rules do not cover.
  if (value_to < text.length && !isMember(VALUE_END, text.charCodeAt(value_to))) return null;
  const value = text.slice(value_at, value_to);
  if (value.length < 8 || isMadeUp(value)) return null;
  let name_from = at;
  while (name_from > 0 && at - name_from < MAX_NAME_BEFORE && isMember(NAME_BEFORE, text.charCodeAt(name_from - 1)))
    name_from -= 1;
  const name = text.slice(name_from, name_to).trimEnd();
  return accept({ name, keyword: text.slice(at, end), value }) ? { from: value_at, to: value_to } : null;
};

/** Returns where the value begins, or a verdict if there is no operator, or none yet. */
const afterOperator = (view: View, at: number): number | Verdict => {
  const { text, final } = view;
  let to = upTo(OPERATOR, view, at, 4);
  if (to === text.length && !final) return { hold: text.length };
  if (!OPERATORS.has(text.slice(at, to))) {
    // `key::value`: a longer sequence of signs is not an operator, but its first sign may be one.
    to = at + 1;
    if (!OPERATORS.has(text.slice(at, to))) return null;
  }
  const value_at = upTo(QUOTE_AFTER, view, to, 6);
  return value_at === text.length && !final ? { hold: text.length } : value_at;
};

const upTo = (members: CharClass, { text }: View, from: number, max: number): number => {
  const limit = Math.min(text.length, from + max);
  let at = from;
  while (at < limit && isMember(members, text.charCodeAt(at))) at += 1;
  return at;
};
