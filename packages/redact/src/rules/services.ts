import { entropy } from '../entropy.js';
import { type Keyed, keyedRule } from '../keyed-rule.js';
import type { Rule } from '../rule.js';

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/** Services whose keys have no prefix and are recognized only by the name next to them: names, then formats of values. */
const SERVICES: [names: string, bits: number, ...shapes: string[]][] = [
  ['adafruit', 3, '[a-z0-9_-]{32}'],
  ['adobe', 2, '[a-f0-9]{32}'],
  ['airtable', 2, '[a-z0-9]{17}'],
  ['algolia', 2, '[a-z0-9]{32}'],
  ['alibaba', 2, '[a-z0-9]{30}'],
  ['asana', 2, '[0-9]{16}', '[a-z0-9]{32}'],
  ['atlassian confluence jira', 3.5, '[a-z0-9]{20}[a-f0-9]{4}', 'ATATT3[a-z0-9_=-]{186}'],
  ['aws_secret secret_access_key secretaccesskey secret-access-key', 3, '[a-z0-9/+=]{40}'],
  ['beamer', 2, 'b_[a-z0-9=_-]{44}'],
  ['bitbucket', 2, '[a-z0-9]{32}', '[a-z0-9=_-]{64}'],
  ['bittrex codecov droneci flickr', 2, '[a-z0-9]{32}'],
  ['cloudflare', 2, '[a-z0-9_-]{40}', '[a-f0-9]{37}'],
  ['cohere co_api_key', 4, '[a-z0-9]{40}'],
  ['coinbase', 2, '[a-z0-9_-]{64}'],
  ['confluent', 2, '[a-z0-9]{16}', '[a-z0-9]{64}'],
  ['contentful', 2, '[a-z0-9=_-]{43}'],
  ['datadog', 2, '[a-z0-9]{40}'],
  ['discord', 2, '[a-f0-9]{64}', '[0-9]{18}', '[a-z0-9=_-]{32}'],
  ['dropbox', 2, '[a-z0-9]{15}', '[a-z0-9]{11}A{10}[a-z0-9=_-]{43}', 'sl\\.[a-z0-9=_-]{135}'],
  ['etsy', 3, '[a-z0-9]{24}'],
  ['facebook', 3, '[a-f0-9]{32}'],
  ['fastly', 2, '[a-z0-9=_-]{32}'],
  ['finicity', 2, '[a-f0-9]{32}', '[a-z0-9]{20}'],
  ['finnhub', 2, '[a-z0-9]{20}'],
  ['freshbooks', 2, '[a-z0-9]{64}'],
  ['gitter', 2, '[a-z0-9_-]{40}'],
  ['gocardless', 2, 'live_[a-z0-9=_-]{40}'],
  ['heroku hubspot sendbird squarespace snyk', 2, UUID],
  ['intercom', 2, '[a-z0-9=_-]{60}'],
  ['jfrog artifactory bintray xray', 2, '[a-z0-9]{73}', '[a-z0-9]{64}'],
  ['kraken', 2, '[a-z0-9/=_+-]{80,90}'],
  ['kucoin', 2, '[a-f0-9]{24}', UUID],
  ['launchdarkly', 2, '[a-z0-9=_-]{40}'],
  ['linear', 2, '[a-f0-9]{32}'],
  ['linkedin linked_in linked-in', 2, '[a-z0-9]{14}', '[a-z0-9]{16}'],
  ['lob', 2, '(?:live|test)_[a-f0-9]{35}', '(?:live|test)_pub_[a-f0-9]{31}'],
  ['looker', 2, '[a-z0-9]{20}', '[a-z0-9]{24}'],
  ['mailchimp', 2, '[a-f0-9]{32}-us[0-9]{1,2}\\)?'],
  ['mailgun', 2, '(?:pub)?key-[a-f0-9]{32}', '[a-h0-9]{32}-[a-h0-9]{8}-[a-h0-9]{8}'],
  ['mapbox', 2, '[ps]k\\.[a-z0-9]{60}\\.[a-z0-9]{22}'],
  ['mattermost', 2, '[a-z0-9]{26}'],
  ['messagebird message_bird message-bird', 2, '[a-z0-9]{25}', UUID],
  ['meraki', 3.1, '[0-9a-f]{40}'],
  ['netlify', 2, '[a-z0-9=_-]{40,46}'],
  ['newrelic new_relic new-relic', 2, '[a-z0-9]{64}', 'NRJS-[a-f0-9]{19}', 'NRII-[a-z0-9-]{32}', 'NRAK-[a-z0-9]{27}'],
  ['nytimes newyorktimes new-york-times', 2, '[a-z0-9=_-]{32}'],
  ['okta', 4, '00[\\w=-]{40}'],
  ['plaid', 3.5, `access-(?:sandbox|development|production)-${UUID}`, '[a-z0-9]{24}', '[a-z0-9]{30}'],
  ['privateai private_ai private-ai', 3, '[a-z0-9]{32}'],
  ['rapidapi', 2, '[a-z0-9_-]{50}'],
  ['sendbird', 2, '[a-f0-9]{40}'],
  ['sentry', 3, '[a-f0-9]{64}'],
  ['bundle_enterprise__contribsys__com bundle_gems__contribsys__com', 1, '[a-f0-9]{8}:[a-f0-9]{8}'],
  ['sonar', 2, '(?:sq[uap]_)?[a-z0-9=_-]{40}'],
  ['sourcegraph', 3, '[a-f0-9]{40}'],
  ['sumo', 3, 'su[a-z0-9]{12}', '[a-z0-9]{64}'],
  ['telegr', 3, '[0-9]{5,16}:A[a-z0-9_-]{34}'],
  ['travis', 2, '[a-z0-9]{22}'],
  ['twitch', 2, '[a-z0-9]{30}'],
  [
    'twitter',
    2,
    '[a-z0-9]{45}',
    '[0-9]{15,25}-[a-z0-9]{20,40}',
    '[a-z0-9]{25}',
    '[a-z0-9]{50}',
    'A{22}[a-z0-9%]{80,100}',
  ],
  ['yandex', 2, 't1\\.[a-z0-9_-]+={0,2}\\.[a-z0-9_-]{86}={0,2}', 'AQVN[a-z0-9_-]{35,38}', 'YC[a-z0-9_-]{38}'],
  ['zendesk', 2, '[a-z0-9]{40}'],
];

/** Names that are also parts of other words, as in `rookTable`, `setSysctl` and `sumOfValues`. They must be a whole word of the name. */
const PARTS_OF_WORDS = new Set(['okta', 'etsy', 'sumo', 'lob', 'linear', 'meraki', 'jira']);

const service = ([names, bits, ...shapes]: (typeof SERVICES)[number]): Rule => {
  // Formats are matched against a single value of at most 400 characters, and none has nested quantifiers.
  const shape = new RegExp(`^(?:${shapes.join('|')})$`, 'i');
  return keyedRule({
    id: `${names.split(' ')[0]}-key`,
    anchors: names.split(' '),
    accept: (keyed) => shape.test(keyed.value) && entropy(keyed.value) >= bits && isNamed(keyed),
  });
};

const isNamed = ({ keyword }: Keyed): boolean =>
  !PARTS_OF_WORDS.has(keyword.toLowerCase()) || /^(?:[A-Z]?[a-z]+|[A-Z]+)$/.test(keyword);

export const SERVICE_RULES: readonly Rule[] = SERVICES.map(service);
