import type { Page } from '@capstan/contracts';

/** The cursor is the `seq` of the last row of the previous page. */
export type PageWanted = { limit: number; cursor?: string | undefined };

/** `rows` were read with a limit of one more than the page; the extra row shows that there is a next page. */
export function pageOf<Row extends { seq: string }, Item>(
  rows: readonly Row[],
  limit: number,
  show: (row: Row) => Item,
): Page<Item> {
  const shown = rows.slice(0, limit);
  return { items: shown.map(show), next_cursor: rows.length > limit ? (shown.at(-1)?.seq ?? null) : null };
}

export const withoutSeq = <Row extends { seq: string }>({ seq: _, ...row }: Row): Omit<Row, 'seq'> => row;
