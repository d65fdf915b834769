import { Failure } from '@capstan/contracts';
import { Cron } from 'croner';

export type When = {
  cron: string | null;
  time_zone: string;
  every_ms: number | null;
  /** The time from which `every_ms` is counted. */
  since: Date;
};

/** The start times of a schedule. It has no clock; callers pass the time. */
export type Timetable = {
  /** The first start after the given time, or null if there is none. */
  next(after: Date): Date | null;
  /** The last `max` starts from `first` to `now`, in order. */
  due(first: Date, now: Date, max: number): Date[];
};

/** Throws a `Failure` if the pattern or time zone is invalid. */
export function createTimetable({ cron, time_zone, every_ms, since }: When): Timetable {
  if (cron === null) return everySoOften(every_ms ?? Number.POSITIVE_INFINITY, since.getTime());
  const schedule = parse(cron, time_zone);
  return {
    next: (after) => schedule.nextRun(after),
    due: (first, now, max) =>
      schedule
        // Include a start that is due exactly now.
        .previousRuns(max, new Date(now.getTime() + 1000))
        .filter((at) => at >= first && at <= now)
        .sort((a, b) => a.getTime() - b.getTime()),
  };
}

function parse(cron: string, time_zone: string): Cron {
  try {
    new Intl.DateTimeFormat('en', { timeZone: time_zone });
  } catch {
    throw new Failure('INVALID_REQUEST', {
      detail: `time_zone: ${JSON.stringify(time_zone)} does not exist`,
      suggestion: 'Use an IANA name like Europe/Berlin or UTC.',
    });
  }
  // The library also accepts a single date, which is not a schedule.
  if (!/\s/.test(cron.trim()) && !cron.startsWith('@'))
    throw invalidCron('expected five fields, or six with seconds first');
  try {
    return new Cron(cron, { timezone: time_zone });
  } catch (error) {
    // The library begins its messages with the name of a class.
    throw invalidCron(error instanceof Error ? error.message.replace(/^Cron\w*: /, '') : 'not a cron pattern');
  }
}

const invalidCron = (message: string) =>
  new Failure('INVALID_REQUEST', {
    detail: `cron: ${message}`,
    suggestion: 'Write minute, hour, day of month, month and day of week: "0 9 * * 1-5" is 9:00 from Monday to Friday.',
  });

function everySoOften(every_ms: number, since: number): Timetable {
  const at = (count: number) => new Date(since + count * every_ms);
  return {
    next: (after) => at(Math.max(1, Math.floor((after.getTime() - since) / every_ms) + 1)),
    due: (first, now, max) => {
      const last = Math.floor((now.getTime() - since) / every_ms);
      const from = Math.max(1, Math.ceil((first.getTime() - since) / every_ms), last - max + 1);
      return Array.from({ length: Math.max(0, last - from + 1) }, (_, index) => at(from + index));
    },
  };
}
