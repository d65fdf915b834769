import { channelOf } from '../signal/channel.js';

/** The address of results, for waiting callers. */
export const ENDED = 'ended';

/**
 * SQL that sends the messages of an array (`messages`, an expression) that `splitEnded` returned as results, each with the time of
 * Postgres' clock.
 */
export const notifyEnded = (messages: string): string => `SELECT count(pg_notify('${channelOf(ENDED)}',
        '${ENDED} ' || replace(now()::text, ' ', 'T') || ' ' || body)) FROM unnest(${messages}::text[]) AS body`;

/** Results without their address, and all other signals. Splitting texts of 8 kB in Postgres took a twentieth of the statement. */
export function splitEnded(signals: readonly string[]): { results: string[]; others: string[] } {
  const results: string[] = [];
  const others: string[] = [];
  for (const signal of signals)
    if (signal.startsWith(`${ENDED} `)) results.push(signal.slice(ENDED.length + 1));
    else others.push(signal);
  return { results, others };
}
