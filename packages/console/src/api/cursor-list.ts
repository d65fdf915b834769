import type { Page } from '@capstan/contracts';
import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo } from 'react';
import { get, type Query } from './request.js';

type Options<Item> = {
  /** The first element of the query keys. */
  name: string;
  path: string;
  filter: Query;
  idOf(item: Item): string;
  page_size?: number;
};

export type CursorList<Item> = {
  items: readonly Item[];
  is_first: boolean;
  has_more: boolean;
  error: unknown;
  more(): void;
  /** Fetches the newest page again. Older pages stay unchanged. */
  refresh(): void;
  /** Changes items that are already loaded. */
  patch(change: (item: Item) => Item): void;
};

/**
 * A list of any length, newest first. The first page is fetched again when something changes, and older pages are fetched once, when
 * the user scrolls there. So a change costs one page, however far the user has scrolled.
 */
export function useCursorList<Item>({ name, path, filter, idOf, page_size = 200 }: Options<Item>): CursorList<Item> {
  const queries = useQueryClient();
  const headKey = useMemo(() => [name, filter, 'head'], [name, filter]);
  const olderKey = useMemo(() => [name, filter, 'older'], [name, filter]);
  const head = useQuery({
    queryKey: headKey,
    queryFn: ({ signal }) => get<Page<Item>>(path, { ...filter, limit: page_size }, signal),
    placeholderData: keepPreviousData,
  });
  const older = useInfiniteQuery({
    queryKey: olderKey,
    queryFn: ({ pageParam, signal }) =>
      get<Page<Item>>(path, { ...filter, limit: page_size, cursor: pageParam }, signal),
    initialPageParam: head.data?.next_cursor ?? '',
    getNextPageParam: (page) => page.next_cursor,
    enabled: false,
    staleTime: Number.POSITIVE_INFINITY,
  });

  const items = useMemo(() => {
    const seen = new Set<string>();
    return [head.data, ...(older.data?.pages ?? [])].flatMap((page) =>
      (page?.items ?? []).filter((item) => {
        const id = idOf(item);
        return seen.has(id) ? false : seen.add(id);
      }),
    );
  }, [head.data, older.data, idOf]);

  // There are more new items than fit on a page, so the older pages no longer follow without a gap.
  const first = older.data?.pages[0]?.items[0];
  const gap =
    first !== undefined &&
    head.data !== undefined &&
    !head.isPlaceholderData &&
    head.data.next_cursor !== null &&
    !joins(head.data, older.data?.pageParams[0]);
  useEffect(() => {
    if (gap) queries.removeQueries({ queryKey: olderKey });
  }, [gap, queries, olderKey]);

  const has_more = older.data ? older.hasNextPage : typeof head.data?.next_cursor === 'string';
  const { fetchNextPage, isFetching } = older;
  const is_ready = head.data !== undefined && !head.isPlaceholderData;
  const more = useCallback(() => {
    if (is_ready && has_more && !isFetching) void fetchNextPage();
  }, [is_ready, has_more, isFetching, fetchNextPage]);
  const refresh = useCallback(() => void queries.invalidateQueries({ queryKey: headKey }), [queries, headKey]);
  const patch = useCallback(
    (change: (item: Item) => Item) => {
      const inPage = (page: Page<Item>): Page<Item> => ({ ...page, items: page.items.map(change) });
      queries.setQueryData<Page<Item>>(headKey, (page) => page && inPage(page));
      queries.setQueryData<{ pages: Page<Item>[]; pageParams: unknown[] }>(
        olderKey,
        (data) => data && { ...data, pages: data.pages.map(inPage) },
      );
    },
    [queries, headKey, olderKey],
  );

  return {
    items,
    is_first: head.data === undefined && head.error === null,
    has_more,
    error: head.data ? null : head.error,
    more,
    refresh,
    patch,
  };
}

/** Cursors are descending numbers. If the first page ends above the start of the older pages, items between them are missing. */
const joins = (head: Page<unknown>, start: unknown): boolean => Number(head.next_cursor) <= Number(start);
