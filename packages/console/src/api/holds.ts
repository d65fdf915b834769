import type {
  Answers,
  DecideAnswer,
  Grant,
  Hold,
  HoldItem,
  JsonObject,
  NewGrantInput,
  Page,
  SimilarHolds,
} from '@capstan/contracts';
import { infiniteQueryOptions, keepPreviousData, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { get, post, type Query } from './request.js';
import type { StatsNow } from './stats.js';

const PAGE_SIZE = 500;
/** The most that the gateway decides at once. */
const MAX_DECIDED_AT_ONCE = 1000;

/** The holds in pages. A change fetches again what is loaded, so that the list never shows what is decided. */
export const holdsQuery = (filter: Query) =>
  infiniteQueryOptions({
    queryKey: ['holds', filter],
    // Keep showing the old data while the new data is fetched.
    placeholderData: keepPreviousData,
    queryFn: ({ pageParam, signal }) =>
      get<Page<HoldItem>>('/v1/holds', { status: 'pending', limit: PAGE_SIZE, ...filter, cursor: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page: Page<HoldItem>) => page.next_cursor,
  });

const at = (id: string, action = ''): string => `/v1/holds/${encodeURIComponent(id)}${action}`;

export const holdQuery = (id: string) =>
  queryOptions({
    queryKey: ['hold', id],
    queryFn: ({ signal }) => get<Hold>(at(id), {}, signal),
  });

export const similarQuery = (id: string) =>
  queryOptions({
    queryKey: ['hold', id, 'similar'],
    queryFn: ({ signal }) => get<SimilarHolds>(at(id, '/similar'), {}, signal),
  });

const holdCountQuery = queryOptions({
  queryKey: ['hold-count'],
  queryFn: async ({ signal }) => (await get<StatsNow>('/v1/stats/now', {}, signal)).holds.pending,
  refetchInterval: 60_000,
});

/** The number of calls that wait for approval, once it is known. */
export const useHoldCount = (): number | undefined => useQuery(holdCountQuery).data;

export type Release = { comment?: string | undefined; inputs?: JsonObject | undefined; input_hash: string };

/** The actions on holds. Each refreshes the data that it changes. */
export function useHoldActions() {
  const queries = useQueryClient();
  const then = <T>(result: T): T => {
    void queries.invalidateQueries({ predicate: ({ queryKey: [key] }) => HOLD_KEYS.has(String(key)) });
    return result;
  };
  return {
    /** Refused if the inputs have changed since they were reviewed. */
    release: (id: string, release: Release) => post<Hold>(at(id, '/release'), release).then(then),
    answer: (id: string, answers: Answers) => post<Hold>(at(id, '/release'), { answers }).then(then),
    reject: (id: string, comment: string) => post<Hold>(at(id, '/reject'), { comment }).then(then),
    comment: (id: string, comment: string) => post<Hold>(at(id, '/comments'), { comment }).then(then),
    /** Applies the same rules as single decisions. The result says for each hold whether it was decided, and if not, why. */
    decideMany: async (holds: readonly HoldItem[], decision: 'release' | 'reject', comment: string | undefined) => {
      const items: DecideAnswer['items'] = [];
      for (let at = 0; at < holds.length; at += MAX_DECIDED_AT_ONCE) {
        const some = holds.slice(at, at + MAX_DECIDED_AT_ONCE);
        const answer = await post<DecideAnswer>('/v1/holds/decide', {
          hold_ids: some.map(({ hold_id }) => hold_id),
          input_hashes: Object.fromEntries(some.map(({ hold_id, input_hash }) => [hold_id, input_hash])),
          decision,
          comment,
        }).finally(() => then(null));
        items.push(...answer.items);
      }
      return { decided: items.filter(({ ok }) => ok).length, items };
    },
    grant: (grant: NewGrantInput) => post<Grant>('/v1/grants', grant).then(then),
    withdraw: (id: string, comment: string | undefined) => post<Hold>(at(id, '/withdraw'), { comment }).then(then),
  };
}
const HOLD_KEYS = new Set(['holds', 'hold', 'hold-count', 'invocation', 'run']);
