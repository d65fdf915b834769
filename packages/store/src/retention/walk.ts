import { type RawBuilder, sql } from 'kysely';
import { readHorizon } from '../merkle/log-cursor.js';
import type { Db, Store } from '../open-store.js';
import type { Age, RetentionRule } from './retention-rule.js';

export type Walked = {
  count: number;
  /** Whether there is more to check. */
  more: boolean;
};

/** The position of an end in the order in which ends were written. */
export type Place = { xid: string; seq: string };

/** The ends to check: the next ones after a place, or those from before the log existed, which have no place. */
export type Range = { limit: number; after: Place; horizon: string } | { limit: number; after: null };

export type Seen = {
  /** How many calls were removed. */
  count: number;
  last: Place | null;
  /** The first end that was not removed, but will be once it is old enough, logged and no longer counted. */
  pending: Place | null;
  /** Whether later ends may be old enough too. */
  more: boolean;
};

/** What a walk removes. */
export type Removal = {
  agesOf(rule: RetentionRule): Age[];
  /** Removes everything that is due in a range. Called in a transaction. */
  removeIn(db: Db, rules: readonly RetentionRule[], range: Range): Promise<Seen>;
};

const START: Place = { xid: '0', seq: '0' };
const before = ({ xid, seq }: Place): Place => ({ xid, seq: String(BigInt(seq) - 1n) });

/**
 * Walks over all ends in the order in which they were written, a page at a time, and removes those that have reached their age. The next
 * round starts at the first end that is still to be removed, so a round costs as much as it removes, however much is kept. Querying for
 * old calls instead took four times as long for 300,000 calls, and grew with their number. The position is kept in memory only, and is
 * reset when the rules change.
 */
export class RetentionWalk {
  readonly #removal: Removal;
  #rules = '';
  #at = START;
  #pending: Place | null = null;

  constructor(removal: Removal) {
    this.#removal = removal;
  }

  /** Advances by up to `limit` ends. */
  async step(store: Store, rules: readonly RetentionRule[], limit: number): Promise<Walked> {
    const text = JSON.stringify(rules);
    if (text !== this.#rules) {
      this.#rules = text;
      this.#begin(START);
    }
    if (rules.every((rule) => this.#removal.agesOf(rule).length === 0)) return { count: 0, more: false };
    const horizon = await readHorizon(store.db);
    const { count, last, pending, more } = await this.#removeIn(store, rules, { limit, after: this.#at, horizon });
    this.#pending ??= pending && before(pending);
    if (last && more) {
      this.#at = last;
      return { count, more: true };
    }
    this.#begin(this.#pending ?? last ?? this.#at);
    return { count: count + (await this.#removeUnnumbered(store, rules, limit)), more: false };
  }

  #begin(from: Place): void {
    this.#at = from;
    this.#pending = null;
  }

  /** Only rows sealed before the log existed have no place. Asks `seals` first, because searching `results` would read all of them. */
  async #removeUnnumbered(store: Store, rules: readonly RetentionRule[], limit: number): Promise<number> {
    const { rows } = await sql`SELECT FROM seals WHERE voided_at IS NULL LIMIT 1`.execute(store.db);
    return rows.length === 0 ? 0 : (await this.#removeIn(store, rules, { limit, after: null })).count;
  }

  #removeIn({ db }: Store, rules: readonly RetentionRule[], range: Range): Promise<Seen> {
    return db.transaction().execute((transaction) => this.#removal.removeIn(transaction, rules, range));
  }
}

/**
 * A WHERE condition for the next ends after a place. Transactions do not commit in the order of their numbers, so the walk never passes the
 * oldest open transaction. Rows that came from another cluster have the numbers of that cluster.
 */
export const endedAfter = (
  { xid, seq }: Record<keyof Place, RawBuilder<unknown>>,
  { after, horizon, limit }: Extract<Range, { after: Place }>,
): RawBuilder<unknown> => sql`
  ${xid} IS NOT NULL AND ${xid} >= ${after.xid}::xid8 AND (${xid}, ${seq}) > (${after.xid}::xid8, ${after.seq}::bigint)
  AND (${xid} < ${horizon}::xid8 OR ${seq} <= (SELECT after_seq FROM log_cursor))
  ORDER BY ${xid}, ${seq} LIMIT ${limit}`;
