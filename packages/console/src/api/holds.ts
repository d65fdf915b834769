import type {
  DecideAnswer,
  Grant,
  Hold,
  HoldItem,
  JsonObject,
  NewGrantInput,
  Page,
  SimilarHolds,
} from '@capstan/contracts';
import { keepPreviousData, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { get, post, type Query } from './request.js';

export const holdsQuery = (filter: Query) =>
  queryOptions({
    queryKey: ['holds', filter],
    // What was there stays while its successor is fetched.
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => get<Page<HoldItem>>('/v1/holds', { status: 'pending', limit: 500, ...filter }, signal),
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
  queryFn: async ({ signal }) => {
    const { items } = await get<Page<HoldItem>>('/v1/holds', { status: 'pending', limit: 1000 }, signal);
    return items.length;
  },
  refetchInterval: 60_000,
});

/** How many calls wait for a person. */
export const useHoldCount = (): number => useQuery(holdCountQuery).data ?? 0;

export type Release = { comment?: string | undefined; inputs?: JsonObject | undefined; input_hash: string };

/** What people do with holds; each refreshes what it changes. */
export function useHoldActions() {
  const queries = useQueryClient();
  const then = <T>(result: T): T => {
    void queries.invalidateQueries({ predicate: ({ queryKey: [key] }) => HOLD_KEYS.has(String(key)) });
    return result;
  };
  return {
    /** Refused when the inputs are others by now than those that were looked at. */
    release: (id: string, release: Release) => post<Hold>(at(id, '/release'), release).then(then),
    reject: (id: string, comment: string) => post<Hold>(at(id, '/reject'), { comment }).then(then),
    comment: (id: string, comment: string) => post<Hold>(at(id, '/comments'), { comment }).then(then),
    /** By the same rules as one by one; of each it is said whether it was taken, and if not, why. */
    decideMany: (holds: readonly HoldItem[], decision: 'release' | 'reject', comment: string | undefined) =>
      post<DecideAnswer>('/v1/holds/decide', {
        hold_ids: holds.map(({ hold_id }) => hold_id),
        input_hashes: Object.fromEntries(holds.map(({ hold_id, input_hash }) => [hold_id, input_hash])),
        decision,
        comment,
      }).then(then),
    grant: (grant: NewGrantInput) => post<Grant>('/v1/grants', grant).then(then),
    withdraw: (id: string, comment: string | undefined) => post<Hold>(at(id, '/withdraw'), { comment }).then(then),
  };
}
const HOLD_KEYS = new Set(['holds', 'hold', 'hold-count', 'invocation', 'run']);
