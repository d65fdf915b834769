import { charClass, isMember } from '../char-class.js';
import { entropy } from '../entropy.js';
import { isPlaceholder } from '../placeholder.js';
import type { Rule, Verdict, View } from '../rule.js';

/** The longest distance between `curl` and its options: a few lines of a command. */
const MAX_COMMAND = 1500;
const MAX_WORD = 300;

const BLANK = charClass(' \t');
const SPACE = charClass(' \t\r\n');
const HEADER_NAME = charClass('A-Z', 'a-z', '0-9', '-_');
const HEADER_VALUE = charClass('A-Z', 'a-z', '0-9', '_=~@.+/', '-');
const SECRET_HEADER = /^(?:x-(?:[a-z]+-)*)?(?:[a-z]+-?)*(?:key|token|secret)$/i;
const UNSET = /^["']?(?:\$|\{\{|<|\[|%\{?[A-Za-z_])/;
const OBVIOUS = new Set(['password', 'passwd', 'pass', 'pwd', 'test', 'token', 'secret', 'changeme', 'changeit']);

/** The start of the option's value, or undefined if there is no separate option at `at`. */
const optionValue = ({ text }: View, at: number, end: number): number | undefined => {
  if (at > 0 && !isMember(SPACE, text.charCodeAt(at - 1))) return undefined;
  let from = end;
  if (text.charAt(from) === '=') return from + 1;
  while (from < end + 5 && isMember(BLANK, text.charCodeAt(from))) from += 1;
  return from;
};

/** The end of a word of a command line, including its quotes. Undefined if the text ends first. */
const wordEnd = ({ text, final }: View, from: number): number | undefined => {
  let quote = '';
  for (let at = from; at < text.length && at - from <= MAX_WORD; at += 1) {
    const char = text.charAt(at);
    if (quote !== '') quote = char === quote ? '' : quote;
    else if (char === '"' || char === "'") quote = char;
    else if (isMember(SPACE, char.charCodeAt(0))) return at;
  }
  return final || text.length - from > MAX_WORD ? Math.min(text.length, from + MAX_WORD) : undefined;
};

const unquoted = (text: string): string => text.replaceAll(/["']/g, '');

/** `-u name:password`. Some services take a key as a name without a password. */
const matchUser = (view: View, at: number, end: number): Verdict => {
  const from = optionValue(view, at, end);
  if (from === undefined) return null;
  const to = wordEnd(view, from);
  if (to === undefined) return { hold: from };
  const whole = view.text.slice(from, to);
  // The command may be within a JSON string, whose quote ends it.
  const word = whole.slice(0, /["']\s{0,99}[,}\])]/.exec(whole)?.index ?? whole.length);
  const colon = word.indexOf(':');
  if (colon < 0 || UNSET.test(word)) return null;
  const password = unquoted(word.slice(colon + 1));
  const [start, stop] = password === '' ? [0, colon] : [colon + 1, word.length];
  const secret = word.slice(start, stop);
  const trimmed = secret.replace(/["']$/, '');
  const lead = /^["']/.test(trimmed) ? 1 : 0;
  const plain = unquoted(secret);
  if (plain.length < 3 || UNSET.test(secret) || OBVIOUS.has(plain.toLowerCase())) return null;
  if (isRow(plain) || entropy(unquoted(word)) < 2) return null;
  return { from: from + start + lead, to: from + start + trimmed.length };
};

const isRow = (text: string): boolean => new Set(text).size === 1;

/** `-H "X-Api-Key: value"`. */
const matchHeader = (view: View, at: number, end: number): Verdict => {
  const { text, final } = view;
  const from = optionValue(view, at, end);
  if (from === undefined) return null;
  const name_from = /["']/.test(text.charAt(from)) ? from + 1 : from;
  const name_to = view.runEnd(HEADER_NAME, name_from);
  if (name_to >= text.length && !final) return { hold: text.length };
  if (text.charAt(name_to) !== ':' || !SECRET_HEADER.test(text.slice(name_from, Math.min(name_to, name_from + 60))))
    return null;
  let value_from = name_to + 1;
  while (value_from < name_to + 6 && isMember(BLANK, text.charCodeAt(value_from))) value_from += 1;
  const value_to = view.runEnd(HEADER_VALUE, value_from);
  if (value_to >= text.length && !final) return { hold: value_from };
  const value = text.slice(value_from, Math.min(value_to, value_from + 400));
  if (value.length < 8 || isPlaceholder(value) || entropy(value) < 2.75) return null;
  return { from: value_from, to: value_to };
};

const never = () => null;

export const CURL_RULES: readonly Rule[] = [
  { id: 'curl', anchors: ['curl'], hidden: false, mark: true, match: never },
  {
    id: 'curl-user',
    anchors: ['-u', '--user'],
    hidden: false,
    match: (view, at, end, since_mark) => (since_mark > MAX_COMMAND ? null : matchUser(view, at, end)),
  },
  {
    id: 'curl-header',
    anchors: ['-H', '--header'],
    hidden: false,
    match: (view, at, end) => matchHeader(view, at, end),
  },
];
