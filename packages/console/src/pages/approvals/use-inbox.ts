import type { HoldItem, Page } from '@capstan/contracts';
import { type InfiniteData, useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { holdsQuery } from '../../api/holds.js';
import type { Search } from '../../app/search.js';
import { FILTERS } from './inbox-facets.js';

/** The pending holds that match the filters in the address, as far as they are loaded. */
export function useInbox(search: Search) {
  const sort = search.sort ?? 'expires_at';
  const filter = useMemo(() => Object.fromEntries(FILTERS.map((name) => [name, search[name]])), [search]);
  const list = useInfiniteQuery(holdsQuery({ ...filter, sort }));
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const { data: all } = useInfiniteQuery(holdsQuery({ sort }));
  const holds = useMemo(() => itemsOf(data), [data]);
  const others = useMemo(() => itemsOf(all), [all]);
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  /** Everything that matches, however far the list was loaded. Null if a page could not be loaded. */
  const loadAll = async (): Promise<HoldItem[] | null> => {
    let loaded = { data, hasNextPage };
    while (loaded.hasNextPage) {
      const next = await fetchNextPage({ cancelRefetch: false });
      if (next.isError) return null;
      loaded = next;
    }
    return itemsOf(loaded.data);
  };
  return { filter, holds, others, data, error, refetch, has_more: hasNextPage, more, loadAll };
}

/** A hold may have moved to another page between two requests. */
function itemsOf(data: InfiniteData<Page<HoldItem>> | undefined): HoldItem[] {
  const items = (data?.pages ?? []).flatMap((page) => page.items);
  return [...new Map(items.map((hold) => [hold.hold_id, hold])).values()];
}
