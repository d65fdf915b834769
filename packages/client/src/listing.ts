import type { Page } from '@capstan/contracts';

/** A list on the gateway, read item by item over all pages, page by page, or as one page. */
export type Listing<Item> = AsyncIterable<Item> & {
  page(): Promise<Page<Item>>;
  pages(): AsyncIterable<Page<Item>>;
};

export type PageOptions = {
  /** Items per page. */
  limit?: number | undefined;
  /** Where to start: the `next_cursor` of an earlier page. */
  cursor?: string | undefined;
};

export const listing = <Item>(
  fetchPage: (cursor: string | undefined) => Promise<Page<Item>>,
  start: string | undefined,
): Listing<Item> => {
  async function* pages(): AsyncGenerator<Page<Item>> {
    let cursor = start;
    do {
      const page = await fetchPage(cursor);
      yield page;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }
  async function* items(): AsyncGenerator<Item> {
    for await (const page of pages()) yield* page.items;
  }
  return { page: () => fetchPage(start), pages, [Symbol.asyncIterator]: items };
};
