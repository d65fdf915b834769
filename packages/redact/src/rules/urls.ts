import { charClass } from '../char-class.js';
import { isPlaceholder } from '../placeholder.js';
import type { Rule } from '../rule.js';

const PRINTABLE = charClass('!-~');
const without = (members: Uint8Array, chars: string): Uint8Array => {
  const rest = members.slice();
  for (const char of chars) rest[char.charCodeAt(0)] = 0;
  return rest;
};
const USER = without(PRINTABLE, ':/@?#"\'<>`\\,;|');
const PASSWORD = without(PRINTABLE, '/@"\'<>`\\');
const OBVIOUS = new Set(['password', 'passwd', 'pass', 'pwd', 'test', 'token', 'secret', 'changeme', 'xxx', 'xxxx']);
const MAX_USER = 100;
const MAX_PASSWORD = 400;

/** The password of `scheme://user:password@host`; the rest of the address stays readable. */
export const URL_RULE: Rule = {
  id: 'url-password',
  anchors: ['://'],
  hidden: false,
  match: (view, _, end) => {
    const { text, final } = view;
    const user_to = view.runEnd(USER, end);
    if (user_to - end > MAX_USER) return null;
    if (user_to >= text.length) return final ? null : { hold: text.length };
    if (text.charAt(user_to) !== ':') return null;
    const from = user_to + 1;
    const to = view.runEnd(PASSWORD, from);
    if (to - from > MAX_PASSWORD) return null;
    if (to >= text.length) return final ? null : { hold: from };
    const password = text.slice(from, to);
    if (text.charAt(to) !== '@' || password.length < 3) return null;
    return isPlaceholder(password) || OBVIOUS.has(password.toLowerCase()) ? null : { from, to };
  },
};
