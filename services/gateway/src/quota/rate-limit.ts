import type { QuotaLimit } from '@capstan/contracts';
import type { RoomLeft } from '@capstan/store/quota';

const MINUTE_S = 60;
const DAY_S = 86_400;
/** The end of a run cannot be predicted, so clients retry soon. */
const CONCURRENT_S = 1;

const windowOf = (limit: string): number =>
  limit.endsWith('_per_day') ? DAY_S : limit.endsWith('_per_minute') ? MINUTE_S : CONCURRENT_S;

/** Until the next minute or day in UTC. */
export const resetIn = (limit: QuotaLimit | string, now = Date.now()): number =>
  windowOf(limit) - Math.floor((now / 1000) % windowOf(limit));

const nameOf = (scope: string): string => JSON.stringify(scope.replaceAll(/[^\x20-\x7e]/g, '?'));

/** The remaining quota as RateLimit header fields for HTTP. */
export const rateLimitHeaders = ({ scope, limit, max, left }: RoomLeft): Record<string, string> => ({
  ratelimit: `${nameOf(scope)};r=${left};t=${resetIn(limit)}`,
  'ratelimit-policy': `${nameOf(scope)};q=${Math.floor(max)};w=${windowOf(limit)}`,
});

export const rateLimitReached = (scope: string, limit: string): Record<string, string> => ({
  'retry-after': String(resetIn(limit)),
  ratelimit: `${nameOf(scope)};r=0;t=${resetIn(limit)}`,
});
