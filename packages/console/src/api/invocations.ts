import type { InvocationDetail, InvocationStatus, Resolution } from '@capstan/contracts';
import { keepPreviousData, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { get, post, type Query } from './request.js';

export type InvocationCounts = {
  total: number;
  status: Partial<Record<InvocationStatus, number>>;
  runner: Record<string, number>;
  /** The 20 most frequent values. */
  tool_id: Record<string, number>;
  actor: Record<string, number>;
  /** True if not all were counted. */
  capped: boolean;
};

const at = (id: string, action = ''): string => `/v1/invocations/${encodeURIComponent(id)}${action}`;

export const invocationQuery = (id: string) =>
  queryOptions({
    queryKey: ['invocation', id],
    queryFn: ({ signal }) => get<InvocationDetail>(at(id), {}, signal),
  });

/** The number of matching calls by status and runner type. */
export const useInvocationCounts = (filter: Query): InvocationCounts | undefined =>
  useQuery({
    queryKey: ['invocation-counts', filter],
    queryFn: ({ signal }) => get<InvocationCounts>('/v1/invocations/counts', filter, signal),
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  }).data;

export const STATUSES: readonly InvocationStatus[] = [
  'held',
  'deferred',
  'queued',
  'running',
  'succeeded',
  'failed',
  'timed_out',
  'ambiguous',
  'canceled',
  'denied',
  'rejected',
  'expired',
];

const UNENDED: ReadonlySet<InvocationStatus> = new Set(['held', 'deferred', 'queued', 'running']);
const REDRIVABLE: ReadonlySet<InvocationStatus> = new Set(['failed', 'timed_out', 'ambiguous']);
export const hasEnded = (status: InvocationStatus): boolean => !UNENDED.has(status);
export const canRedrive = (status: InvocationStatus): boolean => REDRIVABLE.has(status);

export function useInvocationActions() {
  const queries = useQueryClient();
  const then = <T>(result: T): T => {
    void queries.invalidateQueries({ predicate: ({ queryKey: [key] }) => TOUCHED.has(String(key)) });
    return result;
  };
  return {
    cancel: (id: string) => post<InvocationDetail>(at(id, '/cancel')).then(then),
    redrive: (id: string) => post<InvocationDetail>(at(id, '/redrive')).then(then),
    resolve: (id: string, resolution: Resolution) => post<InvocationDetail>(at(id, '/resolve'), resolution).then(then),
    cancelMany: (filter: Query) => post<{ count: number }>('/v1/invocations/cancel', filter).then(then),
    redriveMany: (filter: Query) => post<{ count: number }>('/v1/invocations/redrive', filter).then(then),
  };
}
const TOUCHED = new Set(['invocation', 'invocations', 'invocation-counts', 'runs', 'run', 'holds', 'hold-count']);
