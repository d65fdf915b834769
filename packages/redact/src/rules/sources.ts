/** The sources of the token formats: the revision and its date, or the day a page was read. */
export const SOURCES = {
  /** The rules of gitleaks, MIT. The source of everything in `tokens.ts` and `services.ts` that names no other. */
  gitleaks: { url: 'https://github.com/gitleaks/gitleaks', revision: 'b58d3f102cf3', date: '2026-07-22' },
  /** The rules of secretlint, MIT, with the vendor pages that their READMEs link to. */
  secretlint: { url: 'https://github.com/secretlint/secretlint', revision: '18346ba31b81', date: '2026-08-21' },
  /** The detectors of TruffleHog: only prefixes and lengths, which are facts about the vendors' tokens. */
  trufflehog: { url: 'https://github.com/trufflesecurity/trufflehog', revision: '3ab759fef', date: '2026-08-21' },
  /** The rules of Betterleaks, MIT. */
  betterleaks: { url: 'https://github.com/betterleaks/betterleaks', revision: '6381fa45ae94', date: '2026-07-23' },
  /** The rules of Kingfisher, Apache-2.0: only prefixes and lengths. */
  kingfisher: { url: 'https://github.com/mongodb/kingfisher', revision: 'ee7c0db3ef87', date: '2025-06-20' },
  /** The rules of Titus, Apache-2.0: only prefixes and lengths. */
  titus: { url: 'https://github.com/praetorian-inc/titus', revision: '369d8dc4359a', date: '2026-04-10' },
  /** Keys in public code, of vendors that publish a prefix but no format. */
  public_code: { url: 'https://github.com', revision: null, date: '2026-11-19' },
  // Published by the vendors themselves: documentation, or the check in their own client.
  cloudflare: {
    url: 'https://developers.cloudflare.com/cloudflare-one/connections/connect-networks/configure-tunnels/remote-tunnel-permissions',
    revision: null,
    date: '2026-11-17',
  },
  dynatrace: {
    url: 'https://docs.dynatrace.com/docs/shortlink/api-authentication',
    revision: null,
    date: '2026-11-17',
  },
  e2b: {
    url: 'https://github.com/e2b-dev/E2B/blob/main/packages/js-sdk/src/api/index.ts',
    revision: null,
    date: '2026-11-17',
  },
  helicone: { url: 'https://github.com/Helicone/helicone', revision: '61dfd5a7dc91', date: '2026-11-17' },
  honeycomb: { url: 'https://docs.honeycomb.io/api/authentication', revision: null, date: '2026-11-17' },
  launchdarkly: {
    url: 'https://launchdarkly.com/docs/home/account/environment/keys',
    revision: null,
    date: '2026-11-17',
  },
  scaleway: { url: 'https://github.com/scaleway/scaleway-sdk-js', revision: '6c0bf707aea8', date: '2026-11-17' },
  snyk: { url: 'https://github.com/snyk/go-application-framework', revision: null, date: '2026-11-18' },
  standard_webhooks: {
    url: 'https://github.com/standard-webhooks/standard-webhooks',
    revision: '03f5f8c68488',
    date: '2026-11-17',
  },
  vercel: { url: 'https://github.com/vercel/storage', revision: null, date: '2026-11-18' },
  supabase: { url: 'https://github.com/supabase/cli', revision: '265726d7c16e', date: '2026-11-17' },
} as const satisfies Record<string, { url: string; revision: string | null; date: string }>;

export type Source = keyof typeof SOURCES;
