import { stepPlaceOf } from '@capstan/contracts';
import type { Heard } from '@capstan/store';

const MAX_RUNS = 50;
const MAX_HEARD = 2000;
/**
 * A turn costs much the same for one ending as for hundreds. While more steps of a run than these are under way, endings are
 * gathered for a moment, until half of them have ended: workers have the other half to do.
 */
const FEW = 8;

/** What a turn is to do. */
export type Due = {
  run_ids: string[];
  endings: Heard[];
  /** Those of which something may have been missed. */
  missed: string[];
};

/** Which runs are to be looked at, why and how soon, as far as this process has heard. */
export class Agenda {
  readonly #heard = new Map<string, Heard[]>();
  readonly #missed = new Set<string>();
  /** To be looked at now rather than soon. */
  readonly #urgent = new Set<string>();
  /** To be looked at for another reason than an ending. */
  readonly #looked = new Set<string>();
  /** How many steps of a run are under way, where it is more than a few. */
  readonly #under_way = new Map<string, number>();

  /** Ids of invocations that ended; those that are no steps are none of its business. Answers when a turn is due. */
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

  /** Something of it may have been missed; it is looked up when it is the run's turn. */
  miss(run_id: string): void {
    this.#missed.add(run_id);
  }

  has(run_id: string): boolean {
    return this.#heard.has(run_id);
  }

  /** How many runs are to be looked at now. */
  get urgent(): number {
    return this.#urgent.size;
  }

  /** As many runs as a turn takes, with what was heard of them; the rest is for the next. */
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

  /** What was heard of these runs since, if it is due and nothing else is; null when something else is. */
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

  /** How runs stand now. What was heard meanwhile was measured by how they stood before. */
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
