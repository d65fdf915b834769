import { setTimeout as delay } from 'node:timers/promises';
import type { Listing } from '@capstan/client';
import type { Command } from 'commander';
import { EXIT, type ExitCode } from './exit-code.js';
import { formatTable } from './format/table.js';
import { cut } from './format/width.js';
import { type Look, printItems } from './print-items.js';
import { createLiveBlock } from './progress/live-block.js';
import type { Session } from './session.js';
import { UsageError } from './usage-error.js';

const REFRESH_MS = 1000;
/** The heading, the count of hidden rows, and the line with the cursor. */
const OTHER_LINES = 3;

export const addWatch = (command: Command): Command => command.option('-w, --watch', 'keep refreshing until Ctrl-C');

export const notWatchable = (): UsageError =>
  new UsageError('--watch needs a terminal', 'In a pipe, use `capstan events`, or run the command again.');

/** Redraws lines every second until Ctrl-C, which is the normal way to end it. */
export const watchLines = async (session: Session, look: () => Promise<string[]>): Promise<ExitCode> => {
  const { out, signal } = session;
  const block = createLiveBlock(out);
  while (!signal.aborted) {
    await block.show(await look());
    await delay(REFRESH_MS, undefined, { signal }).catch(() => undefined);
  }
  // The terminal has written ^C at the cursor, so what follows needs a new line.
  await out.line('');
  return EXIT.success;
};

/** A table cut to the size of the terminal, redrawn every second. */
export const watchTable = async <Item>(
  session: Session,
  fetch: () => Promise<readonly Item[]>,
  lookOf: () => Look<Item>,
): Promise<ExitCode> => {
  const { out, json } = session;
  if (!out.live || json) throw notWatchable();
  return watchLines(session, async () => {
    const items = await fetch();
    const { columns, empty } = lookOf();
    const shown = items.slice(0, Math.max(1, out.rows - OTHER_LINES));
    const lines =
      items.length === 0
        ? [cut(empty, out.columns)]
        : formatTable(columns, shown, { colors: out.colors, columns: out.columns, strict: true });
    const more = items.length - shown.length;
    return [...lines, ...(more > 0 ? [out.colors.dim(`… ${more} more`)] : [])].slice(0, Math.max(1, out.rows - 1));
  });
};

/** Prints a whole list once, or with `watch` its first page every second. */
export const printOrWatch = async <Item>(
  session: Session,
  watch: boolean,
  list: () => Listing<Item>,
  lookOf: () => Look<Item>,
): Promise<ExitCode> => {
  if (watch) return watchTable(session, async () => (await list().page()).items, lookOf);
  await printItems(session, list(), lookOf());
  return EXIT.success;
};
