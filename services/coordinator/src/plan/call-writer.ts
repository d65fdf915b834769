import { isTracing, traceSend } from '@capstan/backbone';
import type { Query } from '@capstan/store';
import { type Inserted, insertInvocations, type NewInvocation } from '@capstan/store/invocation';
import type { Parts } from './parts.js';
import type { RunTurn } from './run-turn.js';

/** Batch sizes: Postgres inserts one batch while the next is prepared. Small at first, so that workers start early. */
const SIZE = { first: 64, most: 500 };

export type SentCalls = {
  /** To be called after the turn is committed, for the calls committed with it. */
  committed: (() => void)[];
  /** Whether a call is deferred to a later time. */
  later: boolean;
  /** Runs in which another turn had already called some steps; their outcomes have to be looked up. */
  begun: ReadonlySet<string>;
};

/**
 * Inserts the calls of a turn. Calls that can run at once are committed before the turn, so that they run while the rest of the
 * turn is written. If the turn is lost, they run nevertheless: their ids are derived from their steps, and the next turn finds
 * them. Two kinds are committed with the turn: elements of a step fanned out in the same turn, because the run counts them only
 * from then on, and held, deferred or denied calls, which gain nothing from being early.
 */
export class CallWriter {
  readonly #parts: Parts;
  readonly #query: Query;
  readonly #turns: ReadonlyMap<string, RunTurn>;
  readonly #ahead = new SingleFile<NewInvocation>((rows) => this.#insertAhead(rows), SIZE);
  readonly #with_turn = new SingleFile<NewInvocation>((rows) => this.#insertWithTurn(rows), SIZE);
  readonly #committed: (() => void)[] = [];
  readonly #begun = new Set<string>();
  #count = 0;
  #later = false;
  #some_with_turn = false;

  constructor(parts: Parts, query: Query, turns: ReadonlyMap<string, RunTurn>) {
    this.#parts = parts;
    this.#query = query;
    this.#turns = turns;
  }

  async add(row: NewInvocation, { with_turn }: { with_turn: boolean }): Promise<void> {
    if (with_turn || row.status !== 'queued') {
      this.#some_with_turn = true;
      this.#with_turn.add(row);
    } else this.#ahead.add(row);
    this.#count += 1;
    // Yield to the event loop, so that pending statements are sent.
    if (this.#count % SIZE.first === 0) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Writes pending calls without waiting for a full batch. */
  push(): void {
    this.#ahead.push();
    this.#with_turn.push();
  }

  /** Waits until no write is in progress. Also needed after a failed turn: none of its writes may land after the next turn starts. */
  async settled(): Promise<void> {
    await Promise.all([this.#ahead.settled(), this.#with_turn.settled()]);
  }

  /** Waits until all calls are inserted. Rejects if some could not be. */
  async inserted(): Promise<void> {
    await Promise.all([this.#ahead.written(), this.#with_turn.written()]);
  }

  /** True if every call is already committed: none waits for the turn's commit, and none was made by another turn. */
  areUnderWay(): boolean {
    return !this.#some_with_turn && this.#begun.size === 0;
  }

  sent(): SentCalls {
    return { committed: this.#committed, later: this.#later, begun: this.#begun };
  }

  /** Notes that another turn made a call of this run. */
  note(run_id: string): void {
    this.#begun.add(run_id);
  }

  async #insertAhead(rows: NewInvocation[]): Promise<void> {
    const runs = new Set(rows.map(({ run_id }) => run_id ?? ''));
    const turn = [...this.#turns.values()]
      .filter(({ run_id }) => runs.has(run_id))
      .map(({ run_id, since }) => ({ run_id, seq: since }));
    const { committed, inserted, handed } = await this.#send(rows, (plan) =>
      insertInvocations(this.#parts.store, rows, { ...plan, turn }),
    );
    if (inserted < rows.length) for (const run_id of runs) this.note(run_id);
    committed(handed);
  }

  async #insertWithTurn(rows: NewInvocation[]): Promise<void> {
    const { committed, inserted, handed } = await this.#send(rows, (plan) =>
      insertInvocations({ query: this.#query }, rows, plan),
    );
    if (inserted < rows.length)
      throw new Error('another turn already called a step that this turn would hold or defer');
    this.#later ||= rows.some(({ status, expires_in_ms }) => status === 'deferred' || expires_in_ms !== null);
    this.#committed.push(() => committed(handed));
  }

  /** Calls of several runs may be inserted together; each is sent within the trace of its run. */
  #send(rows: NewInvocation[], insert: (plan: Omit<Planned, 'committed'>) => Promise<Inserted>) {
    let send = async () => {
      const { committed: hand, ...plan } = this.#parts.dispatcher.plan(rows);
      const committed: typeof hand = (handed) => {
        hand(handed);
        for (const { status, decision } of rows) if (status === 'denied') this.#parts.denials.note(decision.code);
      };
      return { committed, ...(await insert(plan)) };
    };
    if (isTracing())
      for (const run_id of new Set(rows.map((row) => row.run_id))) {
        const inner = send;
        const calls = rows.filter((row) => row.run_id === run_id);
        send = () => traceSend(calls, inner, this.#turns.get(run_id ?? '')?.row.traceparent);
      }
    return send();
  }
}

type Planned = ReturnType<Parts['dispatcher']['plan']>;

/** Writes rows in batches, one at a time: rows that arrive during a write are combined in the next. */
export class SingleFile<Row> {
  readonly #write: (rows: Row[]) => Promise<void>;
  /** A batch is written once it has `first` rows, or after `push`, and has at most `most` rows. */
  readonly #size: { first: number; most: number };
  #rows: Row[] = [];
  #writing: Promise<void> | null = null;
  #pushed = false;
  #error: unknown = null;

  constructor(write: (rows: Row[]) => Promise<void>, size: { first: number; most: number }) {
    this.#write = write;
    this.#size = size;
  }

  add(row: Row): void {
    this.#rows.push(row);
    this.#writeNext();
  }

  /** Writes pending rows without waiting for more. */
  push(): void {
    this.#pushed = true;
    this.#writeNext();
  }

  /** Resolves when no write is in progress, even if one has failed. */
  async settled(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  /** Writes all rows. Rejects if a write has failed, after which nothing more is written. */
  async written(): Promise<void> {
    this.push();
    await this.settled();
    if (this.#error !== null) throw this.#error;
  }

  #writeNext(): void {
    if (this.#rows.length === 0) this.#pushed = false;
    const wanted = this.#pushed ? 1 : this.#size.first;
    if (this.#writing || this.#error !== null || this.#rows.length < wanted) return;
    this.#writing = this.#write(this.#rows.splice(0, this.#size.most)).then(
      () => this.#goOn(),
      (error: unknown) => {
        this.#error = error;
        this.#goOn();
      },
    );
  }

  #goOn(): void {
    this.#writing = null;
    this.#writeNext();
  }
}
