import { describe, expect, test } from 'vitest';
import { createTimetable } from './timetable.js';

const at = (text: string) => new Date(text);
const cron = (pattern: string, time_zone = 'UTC') =>
  createTimetable({ cron: pattern, time_zone, every_ms: null, since: at('2026-01-01T00:00:00Z') });
const iso = (dates: Date[]) => dates.map((date) => date.toISOString());

describe('a cron pattern', () => {
  test('follows its time zone across a change to daylight saving time', () => {
    const nine = cron('0 9 * * *', 'Europe/Berlin');
    expect(nine.next(at('2026-03-28T00:00:00Z'))).toEqual(at('2026-03-28T08:00:00Z'));
    expect(nine.next(at('2026-03-29T00:00:00Z'))).toEqual(at('2026-03-29T07:00:00Z'));
  });

  test('gives the last starts that are due, in order', () => {
    const hourly = cron('0 * * * *');
    const [first, now] = [at('2026-01-01T01:00:00Z'), at('2026-01-01T05:30:00Z')];
    expect(iso(hourly.due(first, now, 2))).toEqual(['2026-01-01T04:00:00.000Z', '2026-01-01T05:00:00.000Z']);
    expect(hourly.due(first, now, 100)).toHaveLength(5);
    expect(iso(hourly.due(first, first, 5))).toEqual(['2026-01-01T01:00:00.000Z']);
  });

  test.each(['', 'x', '61 * * * *', '2026-01-01T00:00:00', '* * *'])('%j is refused', (pattern) => {
    expect(() => cron(pattern)).toThrow('cron');
  });

  test('that never matches has no next start', () => {
    expect(cron('0 0 30 2 *').next(at('2026-01-01T00:00:00Z'))).toBeNull();
  });
});

test('an interval is counted from its start time', () => {
  const every = createTimetable({ cron: null, time_zone: 'UTC', every_ms: 60_000, since: at('2026-01-01T00:00:10Z') });
  expect(every.next(at('2026-01-01T00:00:10Z'))).toEqual(at('2026-01-01T00:01:10Z'));
  expect(every.next(at('2026-01-01T00:01:10Z'))).toEqual(at('2026-01-01T00:02:10Z'));
  expect(iso(every.due(at('2026-01-01T00:01:10Z'), at('2026-01-01T00:04:30Z'), 2))).toEqual([
    '2026-01-01T00:03:10.000Z',
    '2026-01-01T00:04:10.000Z',
  ]);
});
