import { nanoid } from 'nanoid';

/** nanoid's own, in the order in which Postgres sorts them. */
const LETTERS = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';
const OF_TIME = 7;
const OF_CHANCE = 14;

/**
 * As long and of the same letters as any nanoid, but the first of them tell the millisecond: ids that are made together
 * lie together in every index they are in, so that a commit touches a few pages at the end of each and not one for each id.
 */
export function newInvocationId(now_ms = Date.now()): string {
  let time = '';
  for (let rest = now_ms; time.length < OF_TIME; rest = Math.floor(rest / LETTERS.length))
    time = LETTERS.charAt(rest % LETTERS.length) + time;
  return `inv_${time}${nanoid(OF_CHANCE)}`;
}
