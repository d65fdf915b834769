import { createDumpLane, type DumpLane } from './dump-lane.js';
import {
  type DumpRow,
  holdsRow,
  mayBeRow,
  mayRepeatRow,
  type Place,
  parseDumpRow,
  parseRepeatedRow,
  type Reading,
} from './dump-row.js';
import { type Finder, REPLACEMENT, type Scanner } from './scanner.js';

/** A row that is held back, and the secret ranges in it. */
type HeldRow = { line: string; row: DumpRow; secrets: Place[] };
/** The bytes of a lane that a row contains. */
type Stretch = { held: HeldRow; reading: Reading; from: number };
type Lane = { bytes: DumpLane; stretches: Stretch[] };

/**
 * Redacts known values in dumps with offsets. Rows are decoded to bytes under every interpretation that their cells allow, and the
 * values are searched in the bytes. So a value is found across rows, and removed from the digits and from the text column.
 *
 *     00000010: 6520 6875 6e74 6572  e hunter        00000010: 6520 [REDACTED]  e [REDACTED]
 *     00000018: 322d 6f66 2061 6e64  2-of and   ──▶  00000018: [REDACTED] 2061 6e64  [REDACTED] and
 *
 * Rows are held back while a value may continue in the next one. Other lines are emitted at once.
 */
export class DumpStage implements Scanner {
  readonly #finders: readonly Finder[];
  readonly #lanes = new Map<string, Lane>();
  #rows: HeldRow[] = [];
  /** The width of the last row's offset, and in which of its formats the last line showed it. Null: the last line was no row. */
  #above: { offset_width: number; format: number } | null = null;
  /** A line that may become a row. */
  #begun = '';
  /** True while inside a line that is not a row: the rest of it passes unchanged. */
  #passing = false;

  constructor(finders: readonly Finder[]) {
    this.#finders = finders;
  }

  push(chunk: string): string {
    if (chunk === '' || this.#isPlain(chunk)) return chunk;
    let out = '';
    for (let at = 0; at < chunk.length; ) {
      const newline = chunk.indexOf('\n', at);
      const end = newline < 0 ? chunk.length : newline + 1;
      out += this.#take(chunk.slice(at, end), newline >= 0);
      at = end;
    }
    return out;
  }

  end(): string {
    return (this.#begun === '' ? '' : this.#takeLine(this.#begun)) + this.#breakOff();
  }

  /** True if a chunk contains no row and can pass unchanged, as most can. */
  #isPlain(chunk: string): boolean {
    if (this.#begun !== '' || this.#lanes.size > 0 || holdsRow(chunk)) return false;
    const last = chunk.slice(chunk.lastIndexOf('\n') + 1);
    if (this.#passing && last.length === chunk.length) return true;
    if (last !== '' && mayBeRow(last)) return false;
    this.#passing = last !== '';
    return true;
  }

  #take(piece: string, isWhole: boolean): string {
    if (this.#passing) {
      this.#passing = !isWhole;
      return piece;
    }
    this.#begun += piece;
    const above = this.#above;
    if (!isWhole && (mayBeRow(this.#begun) || (above && mayRepeatRow(this.#begun, above.offset_width)))) return '';
    const line = this.#begun;
    this.#begun = '';
    this.#passing = !isWhole;
    return isWhole ? this.#takeLine(line) : this.#breakOff() + line;
  }

  #takeLine(line: string): string {
    const row = this.#parse(line);
    if (!row || !this.#above) return this.#breakOff() + line;
    const { format } = this.#above;
    const nameOf = ({ kind }: Reading): string => `${format} ${kind}`;
    const held: HeldRow = { line, row, secrets: [] };
    this.#rows.push(held);
    const names = row.readings.map(nameOf);
    for (const [name, lane] of this.#lanes)
      if (name.startsWith(`${format} `) && !names.includes(name)) this.#endLane(name, lane);
    for (const reading of row.readings) this.#read(held, nameOf(reading), reading);
    return this.#give(this.#decidedRows());
  }

  #parse(line: string): DumpRow | undefined {
    const above = this.#above;
    // Tried first, because a number that is far to the right looks like an offset.
    const again = above ? parseRepeatedRow(line, above.offset_width) : undefined;
    const row = again ?? parseDumpRow(line);
    if (above && again) this.#above = { ...above, format: above.format + 1 };
    else this.#above = row ? { offset_width: row.offset_width, format: 0 } : null;
    return row;
  }

  #read(held: HeldRow, name: string, reading: Reading): void {
    const lane = this.#lanes.get(name) ?? { bytes: createDumpLane(this.#finders), stretches: [] };
    this.#lanes.set(name, lane);
    lane.stretches.push({ held, reading, from: lane.bytes.size() });
    mark(lane, lane.bytes.push(reading.text));
    const decided = lane.bytes.decided();
    lane.stretches = lane.stretches.filter(({ from, reading: { text } }) => from + text.length > decided);
  }

  /** How many rows, from the first on, no value can reach any more. */
  #decidedRows(): number {
    const undecided = new Set([...this.#lanes.values()].flatMap(({ stretches }) => stretches.map(({ held }) => held)));
    const first = this.#rows.findIndex((row) => undecided.has(row));
    return first < 0 ? this.#rows.length : first;
  }

  #breakOff(): string {
    for (const [name, lane] of this.#lanes) this.#endLane(name, lane);
    return this.#give(this.#rows.length);
  }

  #endLane(name: string, lane: Lane): void {
    mark(lane, lane.bytes.end());
    this.#lanes.delete(name);
  }

  #give(count: number): string {
    const given = this.#rows.slice(0, count);
    this.#rows = this.#rows.slice(count);
    return given.map(redactRow).join('');
  }
}

const mark = ({ stretches }: Lane, found: readonly Place[]): void => {
  for (const { from, to } of found)
    for (const stretch of stretches) {
      const first = Math.max(from, stretch.from) - stretch.from;
      const last = Math.min(to, stretch.from + stretch.reading.text.length) - stretch.from;
      if (first < last) hide(stretch, { from: first, to: last });
    }
};

/** Marks the cells of these bytes as secret, and their part of the text column. */
const hide = ({ held, reading: { kind, bytes_per_cell } }: Stretch, bytes: Place): void => {
  const first = held.row.cellAt(kind, Math.floor(bytes.from / bytes_per_cell));
  const last = held.row.cellAt(kind, Math.floor((bytes.to - 1) / bytes_per_cell));
  held.secrets.push({ from: first.from, to: last.to });
  const column = held.row.columnOf(kind, bytes);
  if (column) held.secrets.push(column);
};

const redactRow = ({ line, secrets }: HeldRow): string => {
  let out = '';
  let done = 0;
  for (const { from, to } of secrets.sort((a, b) => a.from - b.from)) {
    if (from >= done) out += line.slice(done, from) + REPLACEMENT;
    done = Math.max(done, to);
  }
  return out + line.slice(done);
};
