import { keepPreviousData, queryOptions, useQueryClient } from '@tanstack/react-query';
import { getAll, type Query, request } from './request.js';

/** Fetches a short list completely. */
export const listQuery = <Item>(name: string, path: string, query: Query = {}) =>
  queryOptions({
    queryKey: [name, 'list', path, query],
    queryFn: () => getAll<Item>(path, query),
    placeholderData: keepPreviousData,
  });

/** Sends a change, then refreshes the data that it affects. */
export function useSend(...names: string[]) {
  const queries = useQueryClient();
  return async <T>(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<T> => {
    const answer = await request<T>(method, path, body === undefined ? {} : { body });
    await queries.invalidateQueries({ predicate: ({ queryKey: [key] }) => names.includes(String(key)) });
    return answer;
  };
}
