/**
 * What the rows of a batch have in common, as JSON, once for all that share it, and which of them each row has. Rows differ in
 * little, and Postgres reads JSON slower than it writes rows. `textOf` gives an object that is not empty.
 */
export function inCommon<Row>(
  rows: readonly Row[],
  textOf: (row: Row) => string,
): {
  common: string;
  of: number[];
  /** How many different texts there are. */
  kinds: number;
} {
  const known = new Map<string, number>();
  const of = rows.map((row) => {
    const text = textOf(row);
    const place = known.get(text) ?? known.size;
    known.set(text, place);
    return place;
  });
  return {
    common: `[${[...known].map(([text, place]) => `{"common":${place},${text.slice(1)}`).join()}]`,
    of,
    kinds: known.size,
  };
}
