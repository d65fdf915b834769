import { DAY_MS } from '@capstan/contracts';
import { nanoid } from 'nanoid';

/** The alphabet of nanoid, in the order in which Postgres sorts it. */
const LETTERS = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';
const OF_TIME = 7;
const OF_CHANCE = 14;

/**
 * An id with the length and alphabet of a nanoid that begins with the time in milliseconds. Ids created together are adjacent in
 * every index, so a commit touches a few pages at the end of each index instead of one page per id.
 */
export function newInvocationId(now_ms = Date.now()): string {
  let time = '';
  for (let rest = now_ms; time.length < OF_TIME; rest = Math.floor(rest / LETTERS.length))
    time = LETTERS.charAt(rest % LETTERS.length) + time;
  return `inv_${time}${nanoid(OF_CHANCE)}`;
}

/** Old ids do not contain the time, so implausible times are ignored. */
const PLAUSIBLE_MS = 400 * DAY_MS;

/** The time in milliseconds at which an id was created. Null if the id does not contain it, as for steps of plans. */
export function submittedAt(invocation_id: string, now_ms = Date.now()): number | null {
  const time = /^inv_([-\w]{7})[-\w]{14}$/.exec(invocation_id)?.[1];
  if (time === undefined) return null;
  let at = 0;
  for (const letter of time) at = at * LETTERS.length + LETTERS.indexOf(letter);
  return Math.abs(now_ms - at) < PLAUSIBLE_MS ? at : null;
}
