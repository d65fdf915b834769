import type { Colors } from '../output.js';
import { printable } from './printable.js';

export type Column<Row> = {
  title: string;
  text(row: Row): string;
  paint?(text: string, row: Row): string;
  align?: 'right';
  /** Gives way when the terminal is too narrow. */
  shrinks?: true;
};

type Layout = { colors: Colors /** Null in a pipe, where nothing is ever cut. */; columns: number | null };

const GAP = '  ';
const MIN_SHRUNK = 12;

/** Rows as aligned lines under a heading. Widths are counted before colours are added. */
export const formatTable = <Row>(columns: readonly Column<Row>[], rows: readonly Row[], layout: Layout): string[] => {
  const cells = rows.map((row) => columns.map((column) => printable(column.text(row))));
  const widths = fit(columns, cells, layout.columns);
  const line = (texts: readonly string[], paint: (text: string, index: number) => string): string =>
    texts.map((text, index) => paint(pad(text, widths[index] ?? 0, columns[index]?.align), index)).join(GAP);
  const heading = line(
    columns.map(({ title }) => title),
    (text) => layout.colors.dim(text),
  );
  const body = rows.map((row, at) =>
    line(cells[at] ?? [], (text, index) => columns[index]?.paint?.(text, row) ?? text),
  );
  return [heading, ...body].map((text) => text.trimEnd());
};

const fit = <Row>(
  columns: readonly Column<Row>[],
  cells: readonly (readonly string[])[],
  available: number | null,
): number[] => {
  const widths = columns.map(({ title }, index) =>
    cells.reduce((widest, row) => Math.max(widest, width(row[index] ?? '')), width(title)),
  );
  const shrinking = columns.findIndex(({ shrinks }) => shrinks);
  const wanted = widths[shrinking];
  if (available === null || wanted === undefined) return widths;
  const over = widths.reduce((sum, each) => sum + each + GAP.length, -GAP.length) - available;
  if (over > 0) widths[shrinking] = Math.max(Math.min(wanted, MIN_SHRUNK), wanted - over);
  return widths;
};

const width = (text: string): number => [...text].length;

const pad = (text: string, size: number, align: 'right' | undefined): string => {
  const chars = [...text];
  if (chars.length > size) return `${chars.slice(0, Math.max(0, size - 1)).join('')}…`;
  const space = ' '.repeat(size - chars.length);
  return align === 'right' ? space + text : text + space;
};
