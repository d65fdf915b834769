import { insertInvocations, type NewInvocation, type Query } from '@capstan/store';
import type { Parts } from './parts.js';
import type { RunTurn } from './run-turn.js';
import { SingleFile } from './single-file.js';

/** Postgres inserts some while the next are being prepared, and workers begin with them: soon with a few, then with more. */
const SIZE = { first: 64, most: 500 };

export type SentCalls = {
  /** To be called once the turn is committed, for the calls that are committed with it. */
  committed: (() => void)[];
  /** Whether something waits for a time. */
  later: boolean;
  /** Of these another turn had begun some already: how far they are is to be looked up. */
  begun: ReadonlySet<string>;
};

/**
 * Inserts the calls of a turn. Those that may run at once are committed ahead of it, so that they run while the rest of the
 * turn is written. Should the turn be lost, they have begun nevertheless: their ids are those of their steps, and the next turn
 * finds them there. Ahead is not for elements of a step that is fanned out in the same turn (the counts of the run
 * know of them only with the turn), nor for what is held, deferred or denied: nothing is gained there.
 */
export class Calls {
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
    // What is to be sent is sent when the event loop gets round to it.
    if (this.#count % SIZE.first === 0) await new Promise((resolve) => setImmediate(resolve));
  }

  /** For now there are no more. */
  push(): void {
    this.#ahead.push();
    this.#with_turn.push();
  }

  /** Also of a turn that failed: nothing of it is to come when the next begins. */
  async settled(): Promise<void> {
    await Promise.all([this.#ahead.settled(), this.#with_turn.settled()]);
  }

  /** Rejects if some could not be. */
  async inserted(): Promise<void> {
    await Promise.all([this.#ahead.written(), this.#with_turn.written()]);
  }

  /** Whether all of it is under way: nothing waits for the turn to be committed, and nothing for a look at it. */
  areUnderWay(): boolean {
    return !this.#some_with_turn && this.#begun.size === 0;
  }

  /** Of all that was inserted. */
  sent(): SentCalls {
    return { committed: this.#committed, later: this.#later, begun: this.#begun };
  }

  /** Another turn began it. */
  note(run_id: string): void {
    this.#begun.add(run_id);
  }

  async #insertAhead(rows: NewInvocation[]): Promise<void> {
    const runs = new Set(rows.map(({ run_id }) => run_id ?? ''));
    const turn = [...this.#turns.values()]
      .filter(({ run_id }) => runs.has(run_id))
      .map(({ run_id, since }) => ({ run_id, seq: since }));
    const { committed, ...plan } = this.#parts.dispatcher.plan(rows);
    const { inserted, handed } = await insertInvocations(this.#parts.store, rows, { ...plan, turn });
    if (inserted < rows.length) for (const run_id of runs) this.note(run_id);
    committed(handed);
  }

  async #insertWithTurn(rows: NewInvocation[]): Promise<void> {
    const { committed, ...plan } = this.#parts.dispatcher.plan(rows);
    const { inserted, handed } = await insertInvocations({ query: this.#query }, rows, plan);
    if (inserted < rows.length) throw new Error('another turn has begun what this one would hold or defer');
    this.#later ||= rows.some(({ status, expires_in_ms }) => status === 'deferred' || expires_in_ms !== null);
    this.#committed.push(() => committed(handed));
  }
}
