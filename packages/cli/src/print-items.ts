import type { Listing } from '@capstan/client';
import { type Column, formatTable } from './format/table.js';
import { wrapProse } from './format/width.js';
import type { Session } from './session.js';

export type Look<Item> = {
  columns: readonly Column<Item>[];
  /** The message for an empty list. It goes to stderr, so that a pipe gets nothing. */
  empty: string;
};

export const printTable = async <Item>(session: Session, items: readonly Item[], look: Look<Item>): Promise<void> => {
  const { out, err } = session;
  if (items.length === 0) return err.line(err.colors.dim(wrapProse(look.empty, 0, err)));
  const lines = formatTable(look.columns, items, { colors: out.colors, columns: out.tty ? out.columns : null });
  await out.line(lines.join('\n'));
};

/** Prints a whole list, as a table or as one JSON page with all items. */
export const printItems = async <Item>(session: Session, list: Listing<Item>, look: Look<Item>): Promise<void> => {
  const items: Item[] = [];
  for await (const item of list) items.push(item);
  if (session.json) await session.printJson({ items, next_cursor: null });
  else await printTable(session, items, look);
};
