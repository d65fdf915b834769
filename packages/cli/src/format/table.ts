import { visibleLine } from '@capstan/contracts/visible-text';
import type { Colors } from '../output.js';
import { cut, cutStart, fill, widthOf } from './width.js';

export type Column<Row> = {
  title: string;
  text(row: Row): string;
  paint?(text: string, row: Row): string;
  align?: 'right';
  /** May be cut down to this many columns if the terminal is too narrow. */
  shrinks?: true | number;
  /** Cut at the start, because the end is more informative. */
  tail?: true;
  /** Dropped if cutting is not enough; the lowest number first. */
  drops?: number;
};

type Layout = {
  colors: Colors;
  /** Null in a pipe, where nothing is cut. */
  columns: number | null;
  /** For tables that are redrawn: no line may wrap, even if an id has to be cut. */
  strict?: boolean;
};

const GAP = '  ';
const MIN_SHRUNK = 12;

/** Formats rows as aligned lines below a heading. Widths are measured before colors are added. */
export const formatTable = <Row>(columns: readonly Column<Row>[], rows: readonly Row[], layout: Layout): string[] => {
  const all = columns.map((column) => measure(column, rows));
  const shown = layout.columns === null ? all : fit(all, layout.columns, layout.strict === true);
  const heading = shown.map(({ title, width, align }) => layout.colors.dim(fill(cut(title, width), width, align)));
  const body = rows.map((row, at) =>
    shown.map(({ cells, width, align, tail, paint }) => {
      const text = fill((tail ? cutStart : cut)(cells[at] ?? '', width), width, align);
      return paint?.(text, row) ?? text;
    }),
  );
  return [heading, ...body].map((cells) => cells.join(GAP).trimEnd());
};

type Measured<Row> = Column<Row> & { cells: readonly string[]; width: number; least: number };

const measure = <Row>(column: Column<Row>, rows: readonly Row[]): Measured<Row> => {
  const cells = rows.map((row) => visibleLine(column.text(row)));
  const width = cells.reduce((widest, cell) => Math.max(widest, widthOf(cell)), widthOf(column.title));
  const { shrinks } = column;
  const least = shrinks === undefined ? width : Math.min(width, shrinks === true ? MIN_SHRUNK : shrinks);
  return { ...column, cells, width, least };
};

const fit = <Row>(all: readonly Measured<Row>[], available: number, strict: boolean): Measured<Row>[] => {
  const shown = dropTo(available, all).map((column) => ({ ...column }));
  for (let over = total(shown.map(({ width }) => width)) - available; over > 0; over -= 1) {
    const widest = shown.filter(({ width, least }) => width > least).sort((a, b) => b.width - a.width)[0];
    if (widest === undefined) break;
    widest.width -= 1;
  }
  return strict ? cutOff(shown, available) : shown;
};

const total = (widths: readonly number[]): number =>
  widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length);

const dropTo = <Row>(available: number, columns: readonly Measured<Row>[]): readonly Measured<Row>[] => {
  if (total(columns.map(({ least }) => least)) <= available) return columns;
  const next = Math.min(...columns.map(({ drops = Number.POSITIVE_INFINITY }) => drops));
  if (next === Number.POSITIVE_INFINITY) return columns;
  return dropTo(
    available,
    columns.filter(({ drops }) => drops !== next),
  );
};

/** Keeps as many columns from the left as fit. */
const cutOff = <Row>(columns: readonly Measured<Row>[], available: number): Measured<Row>[] => {
  const kept: Measured<Row>[] = [];
  let room = available;
  for (const column of columns) {
    if (room <= 0) break;
    kept.push({ ...column, width: Math.min(column.width, room) });
    room -= column.width + GAP.length;
  }
  return kept;
};
