import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type ReactNode, type Ref, useEffect, useImperativeHandle, useRef } from 'react';
import './data-table.css';

export type Column<Row> = {
  id: string;
  header: ReactNode;
  /** As in `grid-template-columns`. */
  width: string;
  cell(row: Row): ReactNode;
  /** Hidden if there is no room for it. */
  wide?: boolean;
  numeric?: boolean;
};

export type TableHandle = { scrollTo(index: number): void; scrollToTop(): void };

export type TableProps<Row> = {
  label: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  idOf(row: Row): string;
  onOpen?(row: Row): void;
  /** The row that shortcuts act on. */
  active?: number | undefined;
  onActive?(index: number): void;
  isSelected?(row: Row): boolean;
  /** Called near the end of the loaded rows. */
  onEnd?(): void;
  row_height?: number;
  /** Identifies the list. When it changes, for example with another filter, the view returns to the top. */
  of?: unknown;
  footer?: ReactNode;
  empty?: ReactNode;
  ref?: Ref<TableHandle>;
};

const OVERSCAN = 12;
const NEAR_END = 40;

/** A virtualized table of any length: only the visible rows and a few around them are in the page. */
export function DataTable<Row>(props: TableProps<Row>) {
  const { label, rows, columns, idOf, onOpen, active, onActive, isSelected, onEnd, row_height = 36, of, ref } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => row_height,
    overscan: OVERSCAN,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  useEffect(() => {
    if (rows.length > 0 && last >= rows.length - NEAR_END) onEnd?.();
  }, [last, rows.length, onEnd]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another list moves the view
  useEffect(() => {
    scroller.current?.scrollTo({ top: 0 });
  }, [of]);
  useImperativeHandle(ref, () => ({
    scrollTo: (index) => virtual.scrollToIndex(index),
    scrollToTop: () => virtual.scrollToOffset(0),
  }));
  const template = columns.map(({ width }) => width).join(' ');
  const narrow = columns
    .filter(({ wide }) => !wide)
    .map(({ width }) => width)
    .join(' ');

  const press = (event: KeyboardEvent<HTMLElement>, index: number) => {
    if (event.target !== event.currentTarget) return;
    const row = rows[index];
    if (event.key === 'Enter' && row !== undefined) onOpen?.(row);
  };

  return (
    <div className="table-frame">
      <div
        className="table"
        ref={scroller}
        role="table"
        tabIndex={0}
        aria-label={label}
        aria-rowcount={rows.length + 1}
        style={{ ['--columns' as string]: template, ['--columns-narrow' as string]: narrow }}
      >
        <div className="table-head" role="row" aria-rowindex={1}>
          {columns.map((column) => (
            <div key={column.id} role="columnheader" className={cellClass(column)}>
              {column.header}
            </div>
          ))}
        </div>
        <div role="rowgroup" style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {items.map((item) => {
            const row = rows[item.index];
            if (row === undefined) return null;
            const id = idOf(row);
            return (
              <div
                key={id}
                role="row"
                aria-rowindex={item.index + 2}
                tabIndex={onOpen ? -1 : undefined}
                data-row={id}
                data-active={item.index === active || undefined}
                data-selected={isSelected?.(row) || undefined}
                className={`table-row ${onOpen ? 'opens' : ''}`}
                style={{ height: row_height, transform: `translateY(${item.start}px)` }}
                onKeyDown={(event) => press(event, item.index)}
                onClick={(event) => {
                  if (event.target instanceof Element && event.target.closest('a, button, input, label')) return;
                  onActive?.(item.index);
                  onOpen?.(row);
                }}
              >
                {columns.map((column) => (
                  <div key={column.id} role="cell" className={cellClass(column)}>
                    {column.cell(row)}
                  </div>
                ))}
              </div>
            );
          })}
        </div>
        {rows.length === 0 ? props.empty : null}
        {props.footer ? <div className="table-foot">{props.footer}</div> : null}
      </div>
    </div>
  );
}

const cellClass = ({ wide, numeric }: { wide?: boolean; numeric?: boolean }): string =>
  `table-cell ${wide ? 'wide-only' : ''} ${numeric ? 'numeric' : ''}`;
