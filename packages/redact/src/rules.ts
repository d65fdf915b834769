import { type CharClass, charClass } from './char-class.js';

/**
 * The shape of a secret: one of `starts`, then `parts` in order. A run takes all it can and never gives back, so a
 * match costs one pass over its text whatever the text is.
 */
export type Rule = {
  readonly id: string;
  readonly starts: readonly string[];
  readonly parts: readonly Part[];
  /** The part where the secret begins, when what comes before (a header's name) may stay readable. */
  readonly hidden_from?: number;
};

export type Part = OneOf | Run;
export type OneOf = { readonly one_of: readonly string[] };
export type Run = {
  readonly run: CharClass;
  readonly min: number;
  /** Every part but the last has one, because a stream holds back what is not decided yet. */
  readonly max?: number;
  /** The run, once delimited, has to end with this. */
  readonly ends_with?: string;
  /** The run, once delimited, has to hold one of these characters. */
  readonly contains?: CharClass;
  /** The match is complete right after this; where it does not come, the run ends as runs do. */
  readonly complete_after?: string;
};

const UPPER = charClass('A-Z');
const UPPER_DIGIT = charClass('A-Z', '0-9');
const ALNUM = charClass('A-Z', 'a-z', '0-9');
const ALNUM_DASH = charClass('A-Z', 'a-z', '0-9', '-');
const ALNUM_UNDERSCORE = charClass('A-Z', 'a-z', '0-9', '_');
const BASE64URL = charClass('A-Z', 'a-z', '0-9', '_', '-');
const JWT_REST = charClass('A-Z', 'a-z', '0-9', '_', '-', '.');
const TOKEN = charClass('A-Z', 'a-z', '0-9', '-', '._~+/=:|%');
const HEADER_SEPARATOR = charClass(' \t:="\'\\>[(,');
const BLANK = charClass(' \t');
const PEM_LABEL = charClass('A-Z', '0-9', ' ');
// Also what surrounds the lines of a key in JSON, YAML and source text, and the headers of an encrypted key.
const PEM_BODY = charClass('A-Z', 'a-z', '0-9', '+/= \t\r\n\\:,."\'|', '-');
// The headers of an armored PGP key (Version, Comment) are free text.
const PGP_BODY = charClass(' -~', '\t\r\n');
const PEM_REST = charClass('A-Z', 'a-z', '0-9', '+/= \t\r\n\\');

/** A key of 16,384 bits takes 12.5 kB. */
const MAX_PEM = 16_384;
/** A header may carry a chain of certificates. */
const MAX_JWT_HEADER = 16_384;

export const RULES: readonly Rule[] = [
  {
    id: 'aws-access-key-id',
    starts: ['AKIA', 'ASIA', 'ABIA', 'ACCA'],
    parts: [{ run: UPPER_DIGIT, min: 16 }],
  },
  {
    id: 'github-token',
    starts: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'],
    parts: [{ run: ALNUM, min: 20 }],
  },
  { id: 'github-fine-grained-token', starts: ['github_pat_'], parts: [{ run: ALNUM_UNDERSCORE, min: 22 }] },
  {
    id: 'slack-token',
    starts: ['xoxa-', 'xoxb-', 'xoxe-', 'xoxo-', 'xoxp-', 'xoxr-', 'xoxs-'],
    parts: [{ run: ALNUM_DASH, min: 10 }],
  },
  { id: 'google-api-key', starts: ['AIza'], parts: [{ run: BASE64URL, min: 35 }] },
  {
    id: 'stripe-key',
    starts: ['sk_live_', 'rk_live_', 'sk_test_', 'rk_test_'],
    parts: [{ run: ALNUM, min: 10 }],
  },
  {
    id: 'jwt',
    starts: ['eyJ'],
    parts: [
      { run: BASE64URL, min: 10, max: MAX_JWT_HEADER },
      { one_of: ['.eyJ'] },
      { run: BASE64URL, min: 6, max: 6 },
      { run: JWT_REST, min: 0 },
    ],
  },
  {
    id: 'private-key',
    starts: ['-----BEGIN '],
    parts: [
      { run: PEM_LABEL, min: 11, max: 64, ends_with: 'PRIVATE KEY' },
      { one_of: ['-----'] },
      { run: PEM_BODY, min: 0, max: MAX_PEM, complete_after: 'KEY-----' },
      { run: PEM_REST, min: 0 },
    ],
  },
  {
    id: 'pgp-private-key',
    starts: ['-----BEGIN '],
    parts: [
      { run: PEM_LABEL, min: 17, max: 64, ends_with: 'PRIVATE KEY BLOCK' },
      { one_of: ['-----'] },
      { run: PGP_BODY, min: 0, max: MAX_PEM, complete_after: 'KEY BLOCK-----' },
      { run: PEM_REST, min: 0 },
    ],
  },
  {
    id: 'authorization-header',
    starts: ['Authorization', 'authorization', 'AUTHORIZATION'],
    parts: [
      { run: HEADER_SEPARATOR, min: 1, max: 16 },
      { one_of: ['Bearer', 'bearer', 'BEARER', 'Basic', 'basic', 'BASIC', 'Token', 'token'] },
      { run: BLANK, min: 1, max: 8 },
      { run: TOKEN, min: 6 },
    ],
    hidden_from: 3,
  },
  {
    id: 'capstan-key',
    starts: ['cap_'],
    // The capital tells a key from a flattened tool name such as cap_current_time_get_current_time.
    parts: [
      { run: BASE64URL, min: 20, max: 256, contains: UPPER },
      { run: BASE64URL, min: 0 },
    ],
  },
];
