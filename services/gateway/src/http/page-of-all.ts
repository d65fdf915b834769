import { type Page, PageQuery } from '@capstan/contracts';
import { z } from 'zod';
import { parseWith } from './parse-request.js';

const MAX = 1000;
const Position = z.coerce.number().int().nonnegative();

/** For short lists: everything by default. */
export const AllQuery = PageQuery.extend({ limit: PageQuery.shape.limit.unwrap().default(MAX) }).strict();

/** A page of a list that was read as a whole. The cursor is the offset. */
export function pageOfAll<Item>(all: Item[], { limit, cursor }: z.infer<typeof AllQuery>): Page<Item> {
  const start = parseWith(z.object({ cursor: Position }), { cursor: cursor ?? 0 }, 'query').cursor;
  const end = start + limit;
  return { items: all.slice(start, end), next_cursor: end < all.length ? String(end) : null };
}
