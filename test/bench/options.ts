import { parseArgs } from 'node:util';
import { SUBJECTS, type SubjectName } from './subject.js';

/** In the order in which they are measured: idle before any load, and what leaves calls waiting last. */
export const PARTS = [
  'idle',
  'calls',
  'app',
  'sealing',
  'plans',
  'exec',
  'snapshot',
  'overload',
  'soak',
  'waiting',
  'decisions',
] as const;
export type PartName = (typeof PARTS)[number];

export interface Options {
  readonly quick: boolean;
  readonly parts: readonly PartName[];
  readonly only: readonly SubjectName[];
  readonly rounds: number;
  /** The approximate duration of one measurement, to which the count is calibrated. */
  readonly seconds: number;
  /** Until what services do once after their start is over, the first garbage collections included. */
  readonly settle_seconds: number;
  readonly idle_seconds: number;
  readonly snapshot_seconds: number;
  readonly overload_seconds: number;
  readonly clients: number;
  readonly waiting: number;
  readonly soak: number;
  readonly out: string;
}

export const USAGE = `npm run bench -- [options]
  --quick          one short round of everything, under four minutes instead of about forty
  --parts a,b      of ${PARTS.join(', ')} (all; soak only with --soak)
  --only a,b       of ${SUBJECTS.join(', ')} (all)
  --rounds N       rounds of every measurement (3)
  --waiting N      how many calls wait in the part of that name (1000000)
  --snapshot N     for how many seconds a snapshot is held (300)
  --clients N      how many clients there are in overload (3000)
  --soak N         send N calls at 50 in flight, and show the memory at each quarter
  --out FILE       where the figures go as JSON (bench-results.json)`;

/** Throws a sentence for the user if an option is unknown or makes no sense. */
export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      parts: { type: 'string', default: PARTS.join(',') },
      only: { type: 'string', default: SUBJECTS.join(',') },
      rounds: { type: 'string' },
      waiting: { type: 'string' },
      snapshot: { type: 'string' },
      clients: { type: 'string', default: '3000' },
      soak: { type: 'string', default: '0' },
      out: { type: 'string', default: 'bench-results.json' },
    },
  });
  const { quick } = values;
  const pick = <Given>(full: Given, short: Given) => (quick ? short : full);
  return {
    quick,
    parts: namesOf('parts', PARTS, values.parts),
    only: namesOf('only', SUBJECTS, values.only),
    rounds: wholeNumber('rounds', values.rounds ?? pick('3', '1')),
    seconds: pick(3, 1),
    settle_seconds: pick(60, 3),
    idle_seconds: pick(30, 4),
    snapshot_seconds: wholeNumber('snapshot', values.snapshot ?? pick('300', '6')),
    overload_seconds: pick(15, 3),
    clients: wholeNumber('clients', values.clients),
    waiting: wholeNumber('waiting', values.waiting ?? pick('1000000', '40000')),
    soak: wholeNumber('soak', values.soak),
    out: values.out,
  };
}

function wholeNumber(option: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`--${option} takes a whole number, not «${text}»`);
  return Number(text);
}

function namesOf<Name extends string>(option: string, known: readonly Name[], text: string): Name[] {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !known.some((one) => one === name));
  if (unknown !== undefined) throw new Error(`--${option} takes ${known.join(', ')}, not «${unknown}»`);
  return known.filter((name) => names.includes(name));
}
