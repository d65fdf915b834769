import type { Claimed } from '@capstan/store';

/**
 * The receipts that this worker has begun, with the calls on them that are not settled yet. Each is begun once: a receipt may
 * be brought twice, by a message and by a heartbeat that looked before the message came.
 */
export class Receipts {
  readonly #left = new Map<string, Set<string>>();
  /** Receipts that are done with, and since when. News of them may still be on its way. */
  readonly #done = new Map<string, number>();
  readonly #remember_ms: number;

  /** No news is heeded that comes later than this. */
  constructor(remember_ms: number) {
    this.#remember_ms = remember_ms;
  }

  /** The calls among these that are on receipts which have not been begun. */
  begin(calls: readonly Claimed[]): Claimed[] {
    const fresh = calls.filter(({ claim_id }) => !this.knows(claim_id));
    for (const { claim_id, invocation_id } of fresh) {
      const left = this.#left.get(claim_id);
      if (left) left.add(invocation_id);
      else this.#left.set(claim_id, new Set([invocation_id]));
    }
    return fresh;
  }

  /** Calls that were begun elsewhere, with all on their receipts that have not ended. */
  adopt(calls: readonly Pick<Claimed, 'claim_id' | 'invocation_id'>[]): void {
    for (const { claim_id, invocation_id } of calls) {
      const left = this.#left.get(claim_id) ?? new Set<string>();
      this.#left.set(claim_id, left.add(invocation_id));
      this.#done.delete(claim_id);
    }
  }

  knows(claim_id: string): boolean {
    return this.#left.has(claim_id) || this.#done.has(claim_id);
  }

  /** Whether a receipt has no calls left but these. */
  isCompletedBy(claim_id: string, ids: ReadonlySet<string>): boolean {
    for (const id of this.#left.get(claim_id) ?? []) if (!ids.has(id)) return false;
    return true;
  }

  settled(claim_id: string, invocation_id: string): void {
    const left = this.#left.get(claim_id);
    left?.delete(invocation_id);
    if (left?.size !== 0) return;
    this.#left.delete(claim_id);
    this.#done.set(claim_id, performance.now());
    this.#forget();
  }

  /** In the order in which they were done, the oldest first. */
  #forget(): void {
    const until = performance.now() - this.#remember_ms;
    for (const [claim_id, done] of this.#done) {
      if (done > until) return;
      this.#done.delete(claim_id);
    }
  }
}
