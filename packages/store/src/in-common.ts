/**
 * Groups the rows of a batch by the columns they share, as JSON objects, and maps each row to its group. Postgres reads JSON more slowly than it
 * writes rows, so each text is sent once. `textOf` returns a JSON object that is not empty. `isAlike` may return false for equal rows. Returning true
 * saves building the text of the second row, which costs more than comparing.
 */
export function inCommon<Row>(
  rows: readonly Row[],
  textOf: (row: Row) => string,
  isAlike: (one: Row, other: Row) => boolean = () => false,
): {
  common: string;
  of: number[];
  /** The number of distinct objects. */
  kinds: number;
} {
  const known = new Map<string, number>();
  let last: { row: Row; place: number } | undefined;
  const of = rows.map((row) => {
    if (last && isAlike(last.row, row)) return last.place;
    const text = textOf(row);
    const place = known.get(text) ?? known.size;
    known.set(text, place);
    last = { row, place };
    return place;
  });
  return {
    common: `[${[...known].map(([text, place]) => `{"common":${place},${text.slice(1)}`).join()}]`,
    of,
    kinds: known.size,
  };
}
