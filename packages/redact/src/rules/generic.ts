import { entropy } from '../entropy.js';
import { type Keyed, keyedRule } from '../keyed-rule.js';
import type { Rule } from '../rule.js';
import { holdsWords } from './words.js';

const VALUE = /^(?:[\w.=-]{10,150}|[a-z0-9][a-z0-9+/]{11,400}={0,3})$/i;
const LETTERS_ONLY = /^[a-zA-Z_.-]+$/;
const MIN_BITS = 3.5;
const CHOSEN = /^[\w.!@#%^*+=~-]{8,100}$/;
const MIN_CHOSEN_BITS = 2.75;

/** Names that contain "key" or "token" but are not secret. */
const HARMLESS_NAME = new RegExp(
  [
    'access(?:ibility|or)|access[_.-]?id|random[_.-]?access|author(?!iz)|authsource|authentication-results',
    'api[_.-]?(?:id|name|version)|rapid|capital|(?:api|credentials?|token)[_.-]?(?:endpoint|ur[il])|api:jar',
    'credentials?[_.-]?id|withcredentials|usersecretsid|secret[_.-]?(?:length|name|size|ref)|tosecretstore',
    '(?:bucket|foreign|hot|idx|natural|primary|pub(?:lic)?|schema|sequence|sort|partition|row|idempotency|cache)[_.-]?key',
    'key[_.-]?(?:alias|board|code|frame|id|length|mesh|name|pair|press|ring|selector|signature|size|stone|storetype|vault)',
    'key[_.-]?(?:word|up|down|left|right|s\\b|hash|type|usage|chars|str\\b)|key(?:store|tab)|keying|[dm]onkey|turkey|whiskey|hockey',
    '(?:csrf|xsrf|public|page|continuation|cancellation|authenticity)[_.-]?token|token[_.-]?(?:type|count|limit|name|id)',
    '(?:key|token)[_.-]?file|issuerkeyhash|jsonwebtoken',
  ].join('|'),
  'i',
);

/** Values that are actually other names: the line after an empty value, and mount options. */
const NAME_OF_ANOTHER = /^(?:[A-Za-z_.]+=|(?:id|name|src|source|target|env|type)=.*)$/;

/** `group.part.v8_name`: few digits, and separators like a name. */
const isNameLike = (value: string): boolean =>
  value.replace(/[^0-9]/g, '').length < 2 && value.replace(/[^._-]/g, '').length > 1;

/** The base64 of a sentence, which is common in examples. */
const isProse = (value: string): boolean =>
  /^[A-Za-z0-9+/]{20,}={0,2}$/.test(value) &&
  /^[a-z]+(?: [a-z]+){2,}$/i.test(Buffer.from(value, 'base64').toString('latin1'));

const isHarmless = ({ name, value }: Keyed): boolean =>
  HARMLESS_NAME.test(name) || NAME_OF_ANOTHER.test(value) || isNameLike(value);

/** Passwords that people choose are less random: letters and digits that are not a word. */
const isPassword = ({ name, keyword, value }: Keyed): boolean =>
  /^passw/i.test(keyword) &&
  /passw(?:or)?d$/i.test(name) &&
  CHOSEN.test(value) &&
  has(value, /[0-9]/, /[A-Za-z]/) &&
  entropy(value) >= MIN_CHOSEN_BITS &&
  !holdsWords(value);

const has = (text: string, ...classes: RegExp[]): boolean => classes.every((one) => one.test(text));

/** Values that are named key, token, password … and look random. */
export const GENERIC_RULE: Rule = keyedRule({
  id: 'generic-secret',
  anchors: ['access', 'auth', 'api', 'credential', 'creds', 'key', 'passwd', 'password', 'secret', 'token'],
  accept: (keyed) =>
    isPassword(keyed) ||
    (VALUE.test(keyed.value) &&
      !LETTERS_ONLY.test(keyed.value) &&
      entropy(keyed.value) >= MIN_BITS &&
      !isHarmless(keyed) &&
      !isProse(keyed.value) &&
      !holdsWords(keyed.value)),
});
