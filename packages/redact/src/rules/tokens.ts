import {
  ALNUM,
  ALNUM_DASH,
  ALPHA,
  BASE64,
  BASE64URL,
  type CharClass,
  charClass,
  DIGIT,
  HEX,
  LOWER_ALNUM,
  LOWER_HEX,
  TOKEN,
  UPPER_ALNUM,
  WORD,
} from '../char-class.js';
import type { Rule } from '../rule.js';
import { just, type Part, some, type TokenSpec, tokenRule } from '../token-rule.js';
import { isPublishedSample } from './published-samples.js';

type Options = Omit<TokenSpec, 'id' | 'anchors' | 'parts'>;
const token = (id: string, anchors: string, parts: readonly Part[], options: Options = {}): Rule =>
  tokenRule({ id, anchors: anchors.split(' '), parts, ...options });

/** The usual kind: a prefix and a fixed number of characters. */
const plain = (id: string, anchors: string, run: CharClass, min: number, entropy: number, max = min): Rule =>
  token(id, anchors, [some(run, min, max)], { entropy, exact: true });
/** Unique prefixes: everything that follows is redacted to its end. */
const greedy = (id: string, anchors: string, run: CharClass, min: number, entropy: number): Rule =>
  token(id, anchors, [some(run, min)], { entropy });

const AGE = charClass('0-9', 'A-Z');
const AZURE = charClass('A-Z', 'a-z', '0-9', '_~.', '-');
const URL_REST = charClass('A-Z', 'a-z', '0-9', '/+@', '-');

const JWT_REST = charClass('A-Z', 'a-z', '0-9', '_', '-', '.=');
const NOT_QUOTED = charClass(' -!', '#-~');

/** True for the base64 of a token that is itself base64. */
const isEncodedJwt = (secret: string): boolean => {
  const header = Buffer.from(secret.slice(0, 80), 'base64').toString('latin1').slice(0, 56);
  return /^\{"[a-z0-9#]+":/i.test(Buffer.from(header, 'base64').toString('latin1'));
};

const has = (text: string, ...classes: RegExp[]): boolean => classes.every((one) => one.test(text));
const isMixed = (text: string): boolean => has(text, /[0-9]/, /[A-Za-z]/);

export const TOKEN_RULES: readonly Rule[] = [
  // Clouds
  token('aws-access-key', 'A3T AKIA ASIA ABIA ACCA', [some(UPPER_ALNUM, 16, 17)], {
    entropy: 3,
    exact: true,
    accept: (secret) => secret.length === 20 && /[2-7]/.test(secret.slice(4)),
  }),
  plain('aws-bedrock-key', 'ABSK', BASE64, 109, 3, 275),
  token('aws-bedrock-session-key', 'bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t', [some(BASE64, 0)]),
  token('azure-client-secret', 'Q~', [some(AZURE, 31, 34)], {
    entropy: 3,
    exact: true,
    anywhere: true,
    behind: /(?:^|[\\'"`\s>=:(,)])[\w~.]{3}[0-9]$/,
  }),
  token('google-api-key', 'AIza', [just(BASE64URL, 35)], {
    entropy: 4,
    exact: true,
    accept: (secret) => !isPublishedSample(secret),
  }),
  plain('alibaba-access-key', 'LTAI', ALNUM, 20, 2),
  plain('digitalocean-token', 'doo_v1_ dop_v1_ dor_v1_', HEX, 64, 3),
  plain('cloudflare-origin-ca-key', 'v1.0-', charClass('0-9', 'a-f', '-'), 171, 2),
  plain('clickhouse-cloud-key', '4b1d', ALNUM, 38, 3),
  token('flyio-token', 'fo1_', [just(BASE64URL, 43)], { entropy: 4, exact: true }),
  plain('flyio-macaroon', 'fm1a_ fm1r_ fm2_', BASE64, 100, 4, 4000),
  plain('heroku-key', 'HRKU-AA', BASE64URL, 58, 4),
  plain('scalingo-token', 'tk-us-', BASE64URL, 48, 2),
  plain('openshift-token', 'sha256~', BASE64URL, 43, 3.5),
  token('yandex-key', 'AQVN', [some(BASE64URL, 35, 38)], { entropy: 4, exact: true }),
  // Code hosting, packages, builds
  greedy('github-token', 'ghp_ gho_ ghu_ ghs_ ghr_', ALNUM, 36, 3),
  greedy('github-fine-grained-token', 'github_pat_', WORD, 82, 3),
  greedy('gitlab-token', 'glpat- gldt- glft- glsoat- glffct- glrt- glimt-', TOKEN, 20, 3),
  greedy('gitlab-long-token', 'glagent- gloas- glptt-', BASE64URL, 40, 3),
  token('gitlab-job-token', 'glcbt-', [some(ALNUM, 1, 5), ['_'], some(BASE64URL, 20)], { entropy: 3 }),
  greedy('gitlab-registration-token', 'GR1348941', BASE64URL, 20, 3.2),
  greedy('gitlab-session', '_gitlab_session=', LOWER_ALNUM, 32, 3),
  plain('npm-token', 'npm_', ALNUM, 36, 2),
  greedy('pypi-token', 'pypi-AgEIcHlwaS5vcmc', BASE64URL, 50, 3),
  plain('rubygems-key', 'rubygems_', LOWER_HEX, 48, 2),
  token('clojars-token', 'clojars_', [some(ALNUM, 60)], { entropy: 2, folded: true }),
  plain('artifactory-key', 'AKCp', ALNUM, 69, 4.5),
  plain('artifactory-reference', 'cmVmd', ALNUM, 59, 4.5),
  plain('octopus-key', 'API-', UPPER_ALNUM, 26, 3),
  plain('pulumi-token', 'pul-', LOWER_HEX, 40, 2),
  plain('postman-key', 'PMAK-', charClass('0-9', 'a-f', 'A-F', '-'), 59, 3),
  plain('infracost-key', 'ico-', ALNUM, 32, 3),
  plain('prefect-key', 'pnu_', ALNUM, 36, 2),
  plain('readme-key', 'rdme_', LOWER_ALNUM, 70, 2),
  plain('sentry-user-token', 'sntryu_', LOWER_HEX, 64, 3.5),
  token('sentry-org-token', 'sntrys_eyJpYXQiO', [some(charClass('A-Z', 'a-z', '0-9', '+/=_'), 80, 600)], {
    entropy: 4,
  }),
  token('sourcegraph-token', 'sgp_', [just(HEX, 40)], { entropy: 3, exact: true }),
  token('sourcegraph-instance-token', 'sgp_', [just(HEX, 16), ['_'], just(HEX, 40)], { entropy: 3, exact: true }),
  token('sourcegraph-local-token', 'sgp_local_', [just(HEX, 40)], { entropy: 3, exact: true }),
  token('harness-key', 'pat. sat.', [just(BASE64URL, 22), ['.'], just(ALNUM, 24), ['.'], just(ALNUM, 20)]),
  token('terraform-cloud-token', '.atlasv1.', [some(charClass('A-Z', 'a-z', '0-9', '-_='), 60, 70)], {
    entropy: 3.5,
    anywhere: true,
    behind: /[A-Za-z0-9]{14}$/,
  }),
  plain('intra42-secret', 's-s4t2ud- s-s4t2af-', HEX, 64, 3),
  // Language models
  token('openai-key', 'sk-', [some(BASE64URL, 40, 220)], {
    entropy: 3,
    exact: true,
    accept: (secret) => secret.includes('T3BlbkFJ'),
  }),
  plain('huggingface-token', 'hf_ api_org_', ALPHA, 34, 3),
  plain('perplexity-key', 'pplx-', ALNUM, 48, 4),
  // Messaging
  token('slack-bot-token', 'xoxb-', [some(DIGIT, 8, 14), ['-'], some(ALNUM_DASH, 10)], { entropy: 2 }),
  token(
    'slack-user-token',
    'xoxp- xoxe-',
    [some(DIGIT, 10, 13), ['-'], some(DIGIT, 10, 13), ['-'], some(ALNUM_DASH, 8)],
    {
      entropy: 2,
      accept: (secret) => /[A-Za-z]/.test(secret.slice(5)),
    },
  ),
  token(
    'slack-legacy-token',
    'xoxo- xoxs-',
    [some(DIGIT, 1, 20), ['-'], some(DIGIT, 1, 20), ['-'], some(ALNUM_DASH, 8)],
    {
      entropy: 2,
    },
  ),
  token('slack-workspace-token', 'xoxa- xoxr-', [some(ALNUM_DASH, 8, 60)], {
    entropy: 2,
    accept: (secret) => isMixed(secret.slice(5)) || /\d{8}/.test(secret),
  }),
  token('slack-config-token', 'xoxe.xoxb- xoxe.xoxp- xoxe-', [just(DIGIT, 1), ['-'], some(ALNUM, 140)], {
    entropy: 2,
    folded: true,
  }),
  token(
    'slack-app-token',
    'xapp-',
    [just(DIGIT, 1), ['-'], some(ALNUM, 1), ['-'], some(DIGIT, 1), ['-'], some(ALNUM, 1)],
    {
      entropy: 2,
      folded: true,
    },
  ),
  token('slack-webhook', 'hooks.slack.com/', [['services/', 'workflows/', 'triggers/'], some(BASE64, 40)], {
    anywhere: true,
    hidden_from: 1,
  }),
  token('teams-webhook', 'webhook.office.com/webhookb2/', [some(URL_REST, 100)], { hidden_from: 0 }),
  token('facebook-token', '| %', [some(BASE64URL, 27, 40)], {
    entropy: 3,
    exact: true,
    anywhere: true,
    behind: /(?:^|[^0-9])[0-9]{15,16}$/,
  }),
  plain('facebook-page-token', 'EAAM EAAC', ALNUM, 100, 4, 600),
  plain('twilio-key', 'SK', HEX, 32, 3),
  token('sendgrid-key', 'SG.', [just(BASE64URL, 22), ['.'], some(BASE64URL, 39, 50)], { entropy: 2, exact: true }),
  plain('sendinblue-key', 'xkeysib-', charClass('a-z', 'A-Z', '0-9', '-'), 81, 2),
  plain('typeform-token', 'tfp_', TOKEN, 59, 3),
  // Payments, commerce, shipping
  plain('stripe-key', 'sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_', ALNUM, 10, 2, 200),
  plain('square-token', 'EAAA sq0atp- sq0csp-', BASE64URL, 22, 3.2, 60),
  token('flutterwave-key', 'FLWSECK_TEST- FLWPUBK_TEST- FLWSECK-', [some(charClass('a-h', 'A-H', '0-9'), 12, 32)], {
    entropy: 2,
  }),
  plain('shippo-token', 'shippo_live_ shippo_test_', HEX, 40, 2),
  plain('easypost-key', 'EZAK EZTK', ALNUM, 54, 2),
  greedy('duffel-token', 'duffel_test_ duffel_live_', charClass('a-z', 'A-Z', '0-9', '_=', '-'), 43, 2),
  // Operations
  token('vault-service-token', 's.', [just(ALNUM, 24)], {
    entropy: 3.5,
    exact: true,
    accept: (secret) => has(secret.slice(2), /[0-9]/, /[A-Za-z]/),
  }),
  plain('vault-token', 'hvs. hvr.', BASE64URL, 90, 3.5, 300),
  plain('vault-batch-token', 'hvb.', BASE64URL, 138, 4, 300),
  token('1password-secret-key', 'A3-', [some(charClass('A-Z', '0-9', '-'), 36, 40)], {
    entropy: 3.8,
    exact: true,
    accept: (secret) => /^A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}$/.test(secret),
  }),
  token('1password-service-token', 'ops_eyJ', [some(BASE64, 250, 4000)], { entropy: 4 }),
  token('age-key', 'AGE-SECRET-KEY-1', [just(AGE, 58)]),
  greedy('doppler-token', 'dp.pt. dp.st. dp.ct.', TOKEN, 40, 2),
  token('dynatrace-token', 'dt0c01.', [just(ALNUM, 24), ['.'], just(ALNUM, 64)], { entropy: 4 }),
  plain('grafana-key', 'eyJrIjoi', BASE64, 70, 3, 400),
  plain('grafana-cloud-token', 'glc_', BASE64, 32, 3, 400),
  plain('planetscale-secret', 'pscale_tkn_ pscale_oauth_ pscale_pw_', TOKEN, 32, 3, 64),
  plain('settlemint-token', 'sm_aat_ sm_pat_ sm_sat_', ALNUM, 16, 3),
  plain('adobe-client-secret', 'p8e-', ALNUM, 32, 2),
  token('airtable-token', 'pat', [just(ALNUM, 14), ['.'], just(LOWER_HEX, 64)], { exact: true }),
  token('frameio-token', 'fio-u-', [some(charClass('a-z', 'A-Z', '0-9', '_=', '-'), 64)]),
  token('defined-networking-token', 'dnkey-', [some(charClass('a-z', 'A-Z', '0-9', '_=', '-'), 79, 79)], {
    exact: true,
  }),
  token(
    'authress-key',
    'sc_ ext_ scauth_ authress_',
    [
      some(ALNUM, 5, 30),
      ['.'],
      some(ALNUM, 4, 6),
      ['.acc_', '.acc-'],
      some(ALNUM_DASH, 10, 32),
      ['.'],
      some(charClass('a-z', 'A-Z', '0-9', '+/_=', '-'), 30, 120),
    ],
    { entropy: 2 },
  ),
  token('maxmind-key', '_', [just(ALNUM, 29), ['_mmk']], {
    entropy: 4,
    exact: true,
    anywhere: true,
    behind: /(?:^|\W)[A-Za-z0-9]{6}$/,
  }),
  token('new-relic-key', 'NRAK- NRII- NRJS-', [some(ALNUM_DASH, 19, 40)], { entropy: 3, exact: true }),
  // Documents
  token('jwt', 'eyJ', [some(BASE64URL, 10, 8192), ['.eyJ'], just(BASE64URL, 6), some(JWT_REST, 0)], { entropy: 3 }),
  token('jwt-in-base64', 'ZXlK', [some(BASE64, 60, 8192)], { entropy: 3, accept: isEncodedJwt }),
  token('gcp-service-account', 'service_account', [], {
    anywhere: true,
    behind: /"type"\s{0,4}:\s{0,4}"$/,
    before: '"',
  }),
  tokenRule({
    id: 'nuget-password',
    anchors: ['password" value="'],
    parts: [some(NOT_QUOTED, 8)],
    anywhere: true,
    folded: true,
    hidden_from: 0,
  }),
  // Our own. An uppercase letter distinguishes a key from a flattened tool name such as cap_current_time_get_current_time.
  token('capstan-key', 'cap_', [some(BASE64URL, 20, 256)], { accept: (secret) => /[A-Z]/.test(secret) }),
];
