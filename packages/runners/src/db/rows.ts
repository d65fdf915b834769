import type { Json, JsonObject } from '@capstan/contracts';

export type Column = { name: string; type: string };

/** The result of a query, within the limits. */
export type Rows = {
  columns: Column[];
  rows: JsonObject[];
  /** The number of rows returned or changed. If truncated, the number returned. */
  row_count: number;
  truncated: boolean;
  /** The number of changed rows, if the driver reports it in addition to the returned ones. */
  changed?: number;
};

export type RowLimits = { max_rows: number; max_bytes: number };

/** Collects rows up to a limit. Truncates between rows, so that every value is complete. */
export const createRowTaker = ({ max_rows, max_bytes }: RowLimits) => {
  const rows: JsonObject[] = [];
  let bytes = 2;
  let truncated = false;
  return {
    rows,
    get truncated() {
      return truncated;
    },
    /** Returns false if no more rows are needed. */
    take(names: readonly string[], values: readonly Json[]): boolean {
      if (truncated) return false;
      const row = Object.fromEntries(names.map((name, index) => [name, values[index] ?? null]));
      bytes += Buffer.byteLength(JSON.stringify(row)) + 1;
      truncated = rows.length >= max_rows || bytes > max_bytes;
      if (!truncated) rows.push(row);
      return !truncated;
    },
  };
};
