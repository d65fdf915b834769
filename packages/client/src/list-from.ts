import type { Page } from '@capstan/contracts';
import { type Listing, listing, type PageOptions } from './listing.js';
import type { RequestOptions, Transport } from './transport.js';

export const listFrom = <Item>(
  transport: Transport,
  path: string,
  { cursor, ...query }: PageOptions & NonNullable<RequestOptions['query']>,
): Listing<Item> =>
  listing((next) => transport.json<Page<Item>>('GET', path, { query: { ...query, cursor: next } }), cursor);
