import { parseArgs } from 'node:util';
import { SUBJECTS, type SubjectName } from './subject.js';

export interface Options {
  readonly rounds: number;
  /** How long one measurement takes, about: the count is calibrated to it. */
  readonly seconds: number;
  readonly waiting: number;
  readonly soak: number;
  readonly only: readonly SubjectName[];
  /** Only processes are measured. */
  readonly exec: boolean;
  /** Only plans are measured. */
  readonly plans: boolean;
  readonly out: string;
}

export const USAGE = `npm run bench -- [options]
  --quick          one short round, a few minutes instead of 10 to 15
  --rounds N       rounds of every measurement (3); 0 leaves only the soak
  --only a,b       of raw, redis, postgres (all)
  --exec           only processes: «true» through the whole system beside bare bubblewrap
  --plans          only plans: a graph and a fan-out beside bulk submissions of as many calls
  --soak N         also send N calls at 50 in flight, and show the memory at each quarter
  --out FILE       where the figures go as JSON (bench-results.json)`;

/** Throws a sentence for the user when an option is unknown or makes no sense. */
export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      exec: { type: 'boolean', default: false },
      plans: { type: 'boolean', default: false },
      only: { type: 'string', default: SUBJECTS.join(',') },
      soak: { type: 'string', default: '0' },
      out: { type: 'string', default: 'bench-results.json' },
    },
  });
  return {
    rounds: wholeNumber('rounds', values.rounds ?? (values.quick ? '1' : '3')),
    seconds: values.quick ? 1 : 3,
    waiting: values.quick ? 40_000 : 100_000,
    soak: wholeNumber('soak', values.soak),
    only: SUBJECTS.filter((name) => namesOf(values.only).includes(name)),
    exec: values.exec,
    plans: values.plans,
    out: values.out,
  };
}

function wholeNumber(option: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`--${option} takes a whole number, not «${text}»`);
  return Number(text);
}

function namesOf(only: string): string[] {
  const names = only.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !SUBJECTS.some((subject) => subject === name));
  if (unknown !== undefined) throw new Error(`--only takes ${SUBJECTS.join(', ')}, not «${unknown}»`);
  return names;
}
