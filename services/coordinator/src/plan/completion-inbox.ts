import { stepPlaceOf } from '@capstan/contracts';
import type { Heard } from '@capstan/store/plan';

const MAX_RUNS = 50;
const MAX_HEARD = 2000;
/**
 * A turn costs about the same for one completion as for hundreds. While more steps of a run than this are running, completions
 * are collected briefly, until half of the steps have ended: the other half keeps the workers busy.
 */
const FEW = 8;

/** The work of a turn. */
export type Due = {
  run_ids: string[];
  endings: Heard[];
  /** Runs for which a completion may have been missed. */
  missed: string[];
};

/** The runs that need a turn, why and how soon, according to the signals this process received. */
export class CompletionInbox {
  readonly #heard = new Map<string, Heard[]>();
  readonly #missed = new Set<string>();
  /** Runs that need a turn now rather than soon. */
  readonly #urgent = new Set<string>();
  /** Runs that need a turn for a reason other than a completion. */
  readonly #looked = new Set<string>();
  /** The number of running steps of a run, if it is more than a few. */
  readonly #under_way = new Map<string, number>();

  /** Takes ids of ended invocations and ignores those that are not steps. Returns when a turn is due. */
  hear(invocation_ids: readonly string[]): 'now' | 'soon' | 'never' {
    let due: 'now' | 'soon' | 'never' = 'never';
    for (const invocation_id of invocation_ids) {
      const place = stepPlaceOf(invocation_id);
      if (!place) continue;
      this.#note(place.run_id).push({ ...place, element: place.element ?? -1, invocation_id });
      this.#judge(place.run_id);
      due = this.urgent > 0 ? 'now' : 'soon';
    }
    return due;
  }

  lookAt(run_id: string): void {
    this.#note(run_id);
    this.#urgent.add(run_id);
    this.#looked.add(run_id);
  }

  /** A completion may have been missed; the run's next turn looks it up. */
  miss(run_id: string): void {
    this.#missed.add(run_id);
  }

  has(run_id: string): boolean {
    return this.#heard.has(run_id);
  }

  /** The number of runs that need a turn now. */
  get urgent(): number {
    return this.#urgent.size;
  }

  /** Takes the runs of one turn with their completions; the rest stay for the next turn. */
  take(): Due {
    const run_ids: string[] = [];
    const endings: Heard[] = [];
    for (const [run_id, list] of this.#heard) {
      if (run_ids.length === MAX_RUNS || (run_ids.length > 0 && endings.length + list.length > MAX_HEARD)) break;
      run_ids.push(run_id);
      endings.push(...list);
    }
    for (const run_id of run_ids) {
      this.#heard.delete(run_id);
      this.#urgent.delete(run_id);
      this.#looked.delete(run_id);
    }
    const missed = run_ids.filter((run_id) => this.#missed.delete(run_id));
    return { run_ids, endings, missed };
  }

  /** Takes further completions of the given runs, if they are due. Returns null if other work is due. */
  takeMore(run_ids: ReadonlySet<string>): Heard[] | null {
    if (this.#looked.size > 0) return null;
    const endings: Heard[] = [];
    for (const run_id of this.#urgent) {
      if (!run_ids.has(run_id)) return null;
      endings.push(...(this.#heard.get(run_id) ?? []));
    }
    for (const run_id of this.#urgent) this.#heard.delete(run_id);
    this.#urgent.clear();
    return endings;
  }

  /** Updates how many steps of each run are running, and judges again whether the completions received so far are due. */
  stand(run_ids: Iterable<string>, liveOf: (run_id: string) => number): void {
    for (const run_id of run_ids) {
      const under_way = liveOf(run_id);
      if (under_way > FEW) this.#under_way.set(run_id, under_way);
      else this.#under_way.delete(run_id);
      this.#judge(run_id);
    }
  }

  #note(run_id: string): Heard[] {
    const list = this.#heard.get(run_id) ?? [];
    this.#heard.set(run_id, list);
    return list;
  }

  #judge(run_id: string): void {
    const endings = this.#heard.get(run_id)?.length ?? 0;
    if (endings > 0 && 2 * endings >= (this.#under_way.get(run_id) ?? 0)) this.#urgent.add(run_id);
  }
}
