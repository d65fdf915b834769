import type { Rule } from '../rule.js';
import { CHAT_RULES } from './chat.js';
import { CURL_RULES } from './curl.js';
import { GENERIC_RULE } from './generic.js';
import { AUTHORIZATION_RULE } from './headers.js';
import { KUBERNETES_RULE } from './kubernetes.js';
import { PRIVATE_KEY_RULE } from './private-key.js';
import { SERVICE_RULES } from './services.js';
import { TOKEN_RULES } from './tokens.js';
import { URL_RULE } from './urls.js';
import { VENDOR_RULES } from './vendor-rules.js';

/** The rules that apply to all text. */
export const RULES: readonly Rule[] = [
  ...TOKEN_RULES,
  ...VENDOR_RULES,
  ...CHAT_RULES,
  ...SERVICE_RULES,
  ...CURL_RULES,
  GENERIC_RULE,
  AUTHORIZATION_RULE,
  PRIVATE_KEY_RULE,
  URL_RULE,
  KUBERNETES_RULE,
];
