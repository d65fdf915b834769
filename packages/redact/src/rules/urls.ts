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
const PASSWORD = without(PRINTABLE, '/"\'<>`\\');
const OBVIOUS = new Set(['passwd', 'pwd', 'test', 'token', 'secret', 'changeme', 'xxx', 'xxxx']);
/** Placeholders such as `mypassword` and `REPLACE_WITH_PASSWORD`. */
const NAMES_ITSELF = /^[a-z_-]*password[a-z_-]*$/i;
const LOCAL = /^(?:localhost|127\.0\.0\.1)(?::|$)/;
const MAX_USER = 100;
const MAX_PASSWORD = 400;

/** The password in `scheme://user:password@host`. The rest of the URL stays readable. */
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
    const run_to = view.runEnd(PASSWORD, from);
    if (run_to - from > MAX_PASSWORD) return null;
    // The text after the `@` may show that the password is trivial, or that it continues.
    if (run_to >= text.length && !final) return { hold: from };
    const to = from + endOfPassword(text.slice(from, run_to));
    if (to <= from) return null;
    const password = text.slice(from, to);
    if (password.length < 4 || isPlaceholder(password)) return null;
    return isObvious(text.slice(end, user_to), password, text.slice(to + 1, run_to)) ? null : { from, to };
  },
};

/** A password may contain an `@`. The host begins after the last one before the query. */
const endOfPassword = (text: string): number => {
  const first = text.indexOf('@');
  const query = first < 0 ? -1 : text.slice(first).search(/[?#]/);
  return (query < 0 ? text : text.slice(0, first + query)).lastIndexOf('@');
};

/** True for passwords that everybody uses, in templates or for local databases. */
const isObvious = (user: string, password: string, host: string): boolean =>
  OBVIOUS.has(password.toLowerCase()) ||
  NAMES_ITSELF.test(password) ||
  (user === password && user.length < 16) ||
  (password === 'pass' && LOCAL.test(host));
