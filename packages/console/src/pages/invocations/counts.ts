import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { get, type Query } from '../../api/request.js';

export type Counts = { total: number; status: Record<string, number>; runner: Record<string, number> };

/** How many match, by status and by runner type. */
export const useInvocationCounts = (filter: Query): Counts | undefined =>
  useQuery({
    queryKey: ['invocation-counts', filter],
    queryFn: ({ signal }) => get<Counts>('/v1/invocations/counts', filter, signal),
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  }).data;
