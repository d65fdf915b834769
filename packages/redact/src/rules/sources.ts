/** Where the shapes of tokens were taken from: the revision that was read, and its date. */
export const SOURCES = {
  /** The rules of gitleaks, MIT. All of `tokens.ts` and `services.ts` without a source of their own. */
  gitleaks: { url: 'https://github.com/gitleaks/gitleaks', revision: 'b58d3f102cf3', date: '2026-07-22' },
  /** The rules of secretlint, MIT, with the vendors' pages that their READMEs name. */
  secretlint: { url: 'https://github.com/secretlint/secretlint', revision: '18346ba31b81', date: '2026-08-21' },
  /** The detectors of TruffleHog; of them the prefixes and lengths, which are facts about the vendors' tokens. */
  trufflehog: { url: 'https://github.com/trufflesecurity/trufflehog', revision: '3ab759fef', date: '2026-08-21' },
  /** In common use, and in none of the above: added by prefix, not checked against the vendor's documentation. */
  unverified: { url: null, revision: null, date: '2026-11-17' },
} as const satisfies Record<string, { url: string | null; revision: string | null; date: string }>;

export type Source = keyof typeof SOURCES;
