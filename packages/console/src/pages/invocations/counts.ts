import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { InvocationCounts } from '../../api/invocations.js';
import { get, type Query } from '../../api/request.js';

/** The number of matching calls by status and runner type. */
export const useInvocationCounts = (filter: Query): InvocationCounts | undefined =>
  useQuery({
    queryKey: ['invocation-counts', filter],
    queryFn: ({ signal }) => get<InvocationCounts>('/v1/invocations/counts', filter, signal),
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  }).data;
