import type { Grant, Hold, HoldSummary, JsonObject, NewGrantInput, Page, RuleLook } from '@capstan/contracts';
import { keepPreviousData, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { get, post, type Query } from './request.js';

export type CanDecide = { ok: boolean; why: string | null };
export type HoldItem = HoldSummary & {
  inputs?: JsonObject;
  step_id?: string | null;
  rules?: RuleLook[];
  can_decide?: CanDecide;
};
export type HoldDetail = Hold & { step_id?: string | null; can_decide?: CanDecide };

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
    queryFn: ({ signal }) => get<HoldDetail>(at(id), {}, signal),
  });

const holdCountQuery = queryOptions({
  queryKey: ['hold-count'],
  queryFn: async ({ signal }) => {
    const { items } = await get<Page<HoldSummary>>('/v1/holds', { status: 'pending', limit: 1000 }, signal);
    return items.length;
  },
  refetchInterval: 60_000,
});

/** How many calls wait for a person. */
export const useHoldCount = (): number => useQuery(holdCountQuery).data ?? 0;

export type Outcome = { hold_id: string; ok: boolean; why: string | null };
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
    /** An outcome for each: some may be decided already, or not be theirs to decide. */
    decideMany: (hold_ids: string[], decision: 'release' | 'reject', comment: string | undefined) =>
      post<{ items: Outcome[] }>('/v1/holds/decide', { hold_ids, decision, comment }).then(({ items }) => then(items)),
    grant: (grant: NewGrantInput) => post<Grant>('/v1/grants', grant).then(then),
    withdraw: (id: string, comment: string | undefined) => post<Hold>(at(id, '/withdraw'), { comment }).then(then),
  };
}
const HOLD_KEYS = new Set(['holds', 'hold', 'hold-count', 'invocation', 'run']);
