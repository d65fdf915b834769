import { createDumpLane, type DumpLane } from './dump-lane.js';
import { type DumpRow, holdsRow, mayBeRow, type Place, parseDumpRow, type Reading } from './dump-row.js';
import { type Finder, REPLACEMENT, type Scanner } from './scanner.js';

/** A row that is not given back yet, and what of it is a secret. */
type HeldRow = { line: string; row: DumpRow; secrets: Place[] };
/** Which bytes of a lane a row has. */
type Stretch = { held: HeldRow; reading: Reading; from: number };
type Lane = { bytes: DumpLane; stretches: Stretch[] };

/**
 * Known values in dumps with offsets. The rows are read back into bytes, by each reading that their cells allow, and the values
 * are looked for in the bytes; so a value is found across rows, and goes from the digits and from the column of text.
 *
 *     00000010: 6520 6875 6e74 6572  e hunter        00000010: 6520 [REDACTED]  e [REDACTED]
 *     00000018: 322d 6f66 2061 6e64  2-of and   ──▶  00000018: [REDACTED] 2061 6e64  [REDACTED] and
 *
 * Rows are held back while a value may go on in the next one; any other line is given at once.
 */
export const createDumpStage = (finders: readonly Finder[]): Scanner => {
  const lanes = new Map<string, Lane>();
  let rows: HeldRow[] = [];
  /** A line that may become a row. */
  let begun = '';
  let passing = false;

  const mark = ({ stretches }: Lane, found: readonly Place[]): void => {
    for (const { from, to } of found)
      for (const stretch of stretches) {
        const first = Math.max(from, stretch.from) - stretch.from;
        const last = Math.min(to, stretch.from + stretch.reading.text.length) - stretch.from;
        if (first < last) hide(stretch, { from: first, to: last });
      }
  };

  const endLane = (kind: string, lane: Lane): void => {
    mark(lane, lane.bytes.end());
    lanes.delete(kind);
  };

  const give = (count: number): string => {
    const given = rows.slice(0, count);
    rows = rows.slice(count);
    return given.map(redactRow).join('');
  };

  const breakOff = (): string => {
    for (const [kind, lane] of lanes) endLane(kind, lane);
    return give(rows.length);
  };

  const takeLine = (line: string): string => {
    const row = parseDumpRow(line);
    if (!row) return breakOff() + line;
    const held: HeldRow = { line, row, secrets: [] };
    rows.push(held);
    for (const [kind, lane] of lanes) if (!row.readings.some((reading) => reading.kind === kind)) endLane(kind, lane);
    for (const reading of row.readings) {
      const lane = lanes.get(reading.kind) ?? { bytes: createDumpLane(finders), stretches: [] };
      lanes.set(reading.kind, lane);
      lane.stretches.push({ held, reading, from: lane.bytes.size() });
      mark(lane, lane.bytes.push(reading.text));
      const decided = lane.bytes.decided();
      lane.stretches = lane.stretches.filter(({ from, reading: { text } }) => from + text.length > decided);
    }
    const undecided = new Set([...lanes.values()].flatMap(({ stretches }) => stretches.map((stretch) => stretch.held)));
    const first = rows.findIndex((waiting) => undecided.has(waiting));
    return give(first < 0 ? rows.length : first);
  };

  const take = (piece: string, isWhole: boolean): string => {
    if (passing) {
      passing = !isWhole;
      return piece;
    }
    begun += piece;
    if (!isWhole && mayBeRow(begun)) return '';
    const line = begun;
    begun = '';
    passing = !isWhole;
    return isWhole ? takeLine(line) : breakOff() + line;
  };

  /** Most chunks have no row, and pass as they are. */
  const isPlain = (chunk: string): boolean => {
    if (begun !== '' || lanes.size > 0 || holdsRow(chunk)) return false;
    const last = chunk.slice(chunk.lastIndexOf('\n') + 1);
    if (passing && last.length === chunk.length) return true;
    if (last !== '' && mayBeRow(last)) return false;
    passing = last !== '';
    return true;
  };

  return {
    push: (chunk) => {
      if (chunk === '' || isPlain(chunk)) return chunk;
      let out = '';
      for (let at = 0; at < chunk.length; ) {
        const newline = chunk.indexOf('\n', at);
        const end = newline < 0 ? chunk.length : newline + 1;
        out += take(chunk.slice(at, end), newline >= 0);
        at = end;
      }
      return out;
    },
    end: () => (begun === '' ? '' : takeLine(begun)) + breakOff(),
  };
};

/** The cells that have these bytes, from the first to the last, and what shows them beside. */
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
