import { useSyncExternalStore } from 'react';
import { Tip } from './tip.js';

let now = Date.now();
const listeners = new Set<() => void>();
setInterval(() => {
  now = Date.now();
  for (const tell of listeners) tell();
}, 1000);
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** The clock of the page for all relative times. It ticks once a second. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now);

const exact = new Intl.DateTimeFormat(undefined, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
});
export const exactTime = (at: string): string => exact.format(new Date(at));

const UNITS: [ms: number, name: string][] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1000, 's'],
];

/** A duration in one unit, as short as possible: `4 m`. */
export const shortSpan = (ms: number): string => {
  const [size, name] = UNITS.find(([unit]) => ms >= unit) ?? [1000, 's'];
  return `${Math.max(0, Math.floor(ms / size))} ${name}`;
};

/** A duration: `340 ms`, `2.4 s`, `3 m 20 s`. */
export const duration = (ms: number): string => {
  if (ms < 1) return '< 1 ms';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_500) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const seconds = Math.round(ms / 1000);
  return seconds < 3600
    ? inTwo(Math.floor(seconds / 60), 'm', seconds % 60, 's')
    : inTwo(Math.floor(seconds / 3600), 'h', Math.floor((seconds % 3600) / 60), 'm');
};

const inTwo = (large: number, unit: string, small: number, small_unit: string): string =>
  small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${small_unit}`;

/** A time relative to now, with the exact time on hover. */
export function Time({ at }: { at: string }) {
  const span = Date.parse(at) - useNow();
  const text = Math.abs(span) < 1500 ? 'now' : span < 0 ? `${shortSpan(-span)} ago` : `in ${shortSpan(span)}`;
  return (
    <Tip text={exactTime(at)}>
      <time className="num" dateTime={at}>
        {text}
      </time>
    </Tip>
  );
}

/** The time left until a deadline, in amber if it is short. */
export function Until({ at, warn_ms = 900_000 }: { at: string; warn_ms?: number }) {
  const left = Date.parse(at) - useNow();
  const tone = left <= warn_ms ? 'tone-amber' : '';
  return (
    <Tip text={`Expires ${exactTime(at)}`}>
      <time className={`num ${left <= warn_ms ? `badge ${tone}` : ''}`} dateTime={at}>
        {left <= 0 ? 'expired' : `${shortSpan(left)} left`}
      </time>
    </Tip>
  );
}
