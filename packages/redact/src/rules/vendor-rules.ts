import {
  ALNUM,
  ALNUM_DASH,
  BASE64,
  BASE64URL,
  type CharClass,
  charClass,
  DIGIT,
  HEX,
  LOWER_ALNUM,
  TOKEN,
  UPPER_ALNUM,
  WORD,
} from '../char-class.js';
import type { Rule } from '../rule.js';
import { type Part, tokenRule } from '../token-rule.js';
import { VENDOR_TOKENS, type VendorToken } from './vendor-tokens.js';

const CLASSES: Readonly<Record<string, CharClass>> = {
  alnum: ALNUM,
  alnum_dash: ALNUM_DASH,
  base64: BASE64,
  base64url: BASE64URL,
  cookie: charClass('A-Z', 'a-z', '0-9', '_', '-', '+/=%'),
  digit: DIGIT,
  hex: HEX,
  jwt: charClass('A-Z', 'a-z', '0-9', '_', '-', '.='),
  lower: charClass('a-z'),
  lower_alnum: LOWER_ALNUM,
  token: TOKEN,
  upper_alnum: UPPER_ALNUM,
  word: WORD,
};

/** No vendor's token is longer. A longer one is still redacted to its end. */
const LONGEST = 400;
/** High enough to exclude `sk_live_your_key_here`, and low enough to include made-up keys that look real. */
const MIN_BITS = 1.3;
const RUN = /([a-z0-9_]+?)\{(\d+)(,?)(\d*)\}/y;

/** Parses a format such as `hex{32}_hex{10}`. Text that is not a class name is a literal. */
export const parseShape = (shape: string): Part[] => {
  const parts: Part[] = [];
  let literal = '';
  const flush = () => {
    if (literal !== '') parts.push([literal]);
    literal = '';
  };
  for (let at = 0; at < shape.length; ) {
    RUN.lastIndex = at;
    const found = RUN.exec(shape);
    const run = found && CLASSES[found[1] ?? ''];
    if (!found || !run) {
      literal += shape.charAt(at);
      at += 1;
      continue;
    }
    flush();
    const [text, , min, open, max] = found;
    parts.push({ run, min: Number(min), max: open === '' ? Number(min) : Number(max) || LONGEST });
    at += text.length;
  }
  flush();
  return parts;
};

const toRule = ([id, prefixes, shape]: VendorToken): Rule => {
  const open = /,\}$/.test(shape);
  return tokenRule({
    id,
    anchors: prefixes.split(' '),
    parts: parseShape(shape),
    entropy: MIN_BITS,
    exact: !open,
    filler: true,
  });
};

export const VENDOR_RULES: readonly Rule[] = VENDOR_TOKENS.map(toRule);
