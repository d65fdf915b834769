import { charClass } from '../char-class.js';
import { LOOK_BEHIND, type Rule, type Verdict, type View } from '../rule.js';

const LABEL = charClass('A-Z', '0-9', ' _');
// Includes the characters around the lines of a key in JSON, YAML and source code, and the headers of an encrypted key.
const PEM_BODY = charClass('A-Z', 'a-z', '0-9', '+/= \t\r\n\\:,."\'|', '-');
// The headers of an armored PGP key (Version, Comment) are free text.
const PGP_BODY = charClass(' -~', '\t\r\n');
const REST = charClass('A-Z', 'a-z', '0-9', '+/= \t\r\n\\');

/** A key of 16,384 bits takes 12.5 kB. */
const MAX_BODY = 16_384;
/** A shorter body is an example of the format. */
const MIN_BODY = 64;
/** An Ed25519 key, the shortest kind, has 64 characters. */
const MIN_KEY = 60;
const MAX_LABEL = LOOK_BEHIND - 32;

/** The end of a JSON string that contains a truncated key, and what may follow. */
const JSON_MEMBER = /"\s{0,8}(?:\}|,\s{0,8}"[^"]{0,64}"\s{0,8}:)/;

const KINDS = [
  { label: 'PRIVATE KEY BLOCK', closing: 'KEY BLOCK-----', body: PGP_BODY },
  { label: 'PRIVATE KEY', closing: 'KEY-----', body: PEM_BODY },
];

/** PEM and PGP private keys. A truncated key is redacted as far as it goes. */
export const PRIVATE_KEY_RULE: Rule = {
  id: 'private-key',
  anchors: ['-----BEGIN '],
  hidden: true,
  match: (view, at, end) => {
    const label_to = view.runEnd(LABEL, end);
    if (label_to - end > MAX_LABEL) return null;
    if (label_to + 5 > view.text.length && !view.final) return { hold: at };
    const label = view.text.slice(end, label_to);
    const kind = KINDS.find((one) => label.endsWith(one.label));
    if (!kind || !view.text.startsWith('-----', label_to)) return null;
    return matchBody(view, at, label_to + 5, kind);
  },
};

const matchBody = (view: View, at: number, from: number, { closing, body }: (typeof KINDS)[number]): Verdict => {
  const window = view.text.slice(from, from + MAX_BODY);
  const ended = window.indexOf('-----END');
  if (ended >= 0 && ended < MIN_KEY) return null;
  const closed = window.indexOf(closing, MIN_BODY);
  const end = view.runEnd(body, from);
  if (closed >= 0 && from + closed + closing.length <= end) return { from: at, to: from + closed + closing.length };
  if (end === view.text.length && !view.final && window.length < MAX_BODY) return { hold: at };
  const member = JSON_MEMBER.exec(window);
  const to = Math.min(end, from + (member ? member.index : MAX_BODY));
  if (to - from < MIN_BODY) return null;
  return { from: at, to: view.runEnd(REST, to), rest: REST };
};
