import { charClass, isMember } from '../char-class.js';
import { entropy } from '../entropy.js';
import { isPlaceholder } from '../placeholder.js';
import type { Rule, Verdict, View } from '../rule.js';

const SEPARATOR = charClass(' \t:="\'\\>[(,');
const BLANK = charClass(' \t');
const VALUE = charClass('A-Z', 'a-z', '0-9', '-', '._~+/=:|%@');
const LETTERS = charClass('A-Z', 'a-z', '-');
const SCHEMES = new Set(['bearer', 'basic', 'token', 'api-token', 'digest', 'apikey', 'bot']);
const WORDS = /^[a-zA-Z]+(?:-[a-zA-Z]+)*\.?$/;
const MAX_SEPARATOR = 16;

/** `Authorization: Bearer …` as a header, in JSON or in source code. The name and the scheme stay readable. */
export const AUTHORIZATION_RULE: Rule = {
  id: 'authorization-header',
  anchors: ['authorization'],
  hidden: false,
  match: (view, _, end) => {
    const { text, final } = view;
    const from = skip(SEPARATOR, text, end, MAX_SEPARATOR);
    if (from === end && from < text.length) return null;
    if (from >= text.length) return final ? null : { hold: text.length };
    const word_to = view.runEnd(LETTERS, from);
    if (word_to >= text.length && !final) return { hold: from };
    if (!SCHEMES.has(text.slice(from, Math.min(word_to, from + 12)).toLowerCase())) {
      // Without a scheme, a blank alone is prose: `the authorization endpoint.`
      return text.slice(end, from).trim() === '' ? null : matchValue(view, from, 8, 2.75);
    }
    const value_from = skip(BLANK, text, word_to, 8);
    if (value_from >= text.length) return final ? null : { hold: text.length };
    return value_from === word_to ? matchValue(view, from, 8, 2.75) : matchValue(view, value_from, 6, 2);
  },
};

const matchValue = (view: View, from: number, min: number, bits: number): Verdict => {
  const to = view.runEnd(VALUE, from);
  if (to >= view.text.length && !view.final) return { hold: from };
  const value = view.text.slice(from, Math.min(to, from + 400));
  if (value.length < min || isPlaceholder(value) || entropy(value) < bits) return null;
  // Words are prose about the header, or the name of another: `Authorization: required`, `['authorization', 'content-type']`.
  return bits > 2 && WORDS.test(value) ? null : { from, to, rest: VALUE };
};

const skip = (members: Uint8Array, text: string, from: number, max: number): number => {
  let at = from;
  while (at < text.length && at < from + max && isMember(members, text.charCodeAt(at))) at += 1;
  return at;
};
