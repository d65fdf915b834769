export type Alignment = 'left' | 'right';

export interface Column {
  readonly title: string;
  readonly alignment: Alignment;
}

/** Lines up cells in columns: a heading, a rule, the rows. A column that is empty in heading and rows is left out. */
export function renderTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const widths = columns.map(({ title }, index) =>
    Math.max(...[title, ...cellsOf(rows, index)].map((text) => text.length)),
  );
  const line = (cells: readonly string[]) =>
    columns
      .flatMap(({ alignment }, index) => {
        const width = widths[index] ?? 0;
        return width === 0 ? [] : [pad(cells[index] ?? '', width, alignment)];
      })
      .join('  ')
      .trimEnd();
  const heading = line(columns.map(({ title }) => title));
  const body = rows.map(line);
  const rule = '─'.repeat(Math.max(...[heading, ...body].map((text) => text.length)));
  return [heading, rule, ...body].join('\n');
}

function cellsOf(rows: readonly (readonly string[])[], index: number): string[] {
  return rows.map((cells) => cells[index] ?? '');
}

function pad(text: string, width: number, alignment: Alignment): string {
  return alignment === 'left' ? text.padEnd(width) : text.padStart(width);
}
