import type { Json, JsonObject } from '@capstan/contracts';

export type Column = { name: string; type: string };

/** What a query answered, as far as the limits let it. */
export type Rows = {
  columns: Column[];
  rows: JsonObject[];
  /** How many there are, or were changed; of a cut answer, how many were given. */
  row_count: number;
  truncated: boolean;
  /** Rows that it changed, as far as the driver counts them beside those that it gives. */
  changed?: number;
};

export type RowLimits = { max_rows: number; max_bytes: number };

/** Takes rows until a limit; they are cut between rows, so no value is ever half there. */
export const createRowTaker = ({ max_rows, max_bytes }: RowLimits) => {
  const rows: JsonObject[] = [];
  let bytes = 2;
  let truncated = false;
  return {
    rows,
    get truncated() {
      return truncated;
    },
    /** False when no more is wanted. */
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
