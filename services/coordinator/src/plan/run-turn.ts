import type { JsonObject, RunStatus } from '@capstan/contracts';
import type { CompiledStep } from '@capstan/plan';
import type { CompiledPolicy } from '@capstan/policy';
import type { ClaimedRun, EndedFan, Ending, SavedRun, StepMove, Titled } from '@capstan/store';
import { TOLERATED } from './fan.js';
import type { Place, RunState } from './run-state.js';

/** How many steps are started in one turn, and then others have theirs. */
export const CHUNK = 1000;

const WORTH_WRITING = 100;
const TO_RESOLVE = 'nobody knows whether it took effect; resolve it, or redrive it';

type End = Exclude<StepMove['status'], 'pending' | 'started'>;

/** A run during a turn of the engine: what it had when it was claimed, and what becomes of it. */
export class RunTurn {
  readonly run_id: string;
  /** The last change before this turn. */
  readonly since: number;
  /**
   * Whether another turn, of which nothing is known, may have moved or begun what is pending here. Also before the first change
   * of a run: one that goes on from another has steps that have ended, or are fanned out.
   */
  readonly unsure: boolean;
  readonly more: SavedRun['more'] = { total: 0, live: 0, completed: 0, denied: 0, failed: 0, canceled: 0, skipped: 0 };
  /** What has moved, and is not written yet. What starts and ends within a turn is written once. */
  readonly #moves = new Map<string, StepMove>();
  #ended = 0;
  readonly ended_fans: EndedFan[] = [];
  /** Steps that were fanned out in this turn. */
  readonly fanned = new Set<number>();
  #reason: string | null = null;

  constructor(
    readonly row: ClaimedRun,
    readonly state: RunState,
    readonly policy: CompiledPolicy,
  ) {
    this.run_id = row.run_id;
    this.since = row.seq;
    this.unsure = !row.untouched && (state.seq === 0 || state.seq !== row.seq);
  }

  get inputs(): JsonObject {
    return this.row.inputs;
  }

  step(index: number): CompiledStep {
    return this.state.step(index);
  }

  titleOf(index: number): Titled {
    const { id, name, tool_id } = this.step(index);
    return { step_id: id, name, tool_id };
  }

  nextSeq(): number {
    this.row.seq += 1;
    return this.row.seq;
  }

  /** How many more steps may be under way. */
  room(): number {
    const { paused, stopping, max_parallel, live } = this.row;
    if (paused || stopping) return 0;
    return max_parallel === null ? CHUNK : Math.min(CHUNK, max_parallel - live);
  }

  canStart(): boolean {
    return this.room() > 0 && this.state.hasReady();
  }

  /** It is called, and how it ends will be heard of. */
  start(place: Place): void {
    this.#countCall(place.step);
    this.#move(place, 'started', null, true);
  }

  /** It is called once for each element. They are counted in its place. */
  fanOut(step: number, elements: number): void {
    this.fanned.add(step);
    this.row.unended += elements;
    this.more.total += elements - 1;
    this.more.live += elements - 1;
    this.state.apply({ step, element: -1, status: 'started', elements });
  }

  /** It ends without having been called, or is denied. */
  endUncalled(place: Place, status: keyof typeof COUNTED, reason: string | null): void {
    this.more.live -= 1;
    if (status !== 'skipped') this.row.ended += 1;
    this.more[COUNTED[status]] += 1;
    this.#end(place, status, reason, reason, status === 'denied');
  }

  /** Its call has ended. Each is ended once, however often that is heard of. */
  takeOver(ending: Ending): void {
    if (!this.state.isStarted(ending)) return;
    if (ending.unresolved && this.#waitsFor(ending.step)) {
      if (!this.state.isTold(ending)) this.#move(ending, 'started', TO_RESOLVE, true);
      return;
    }
    this.row.live -= 1;
    this.row.ended += 1;
    this.#end(ending, ending.status, null, ending.error, true);
  }

  /** All that has not been started will not be; what a turn that was lost had begun is under way. */
  drop(hasBegun: (place: Place) => boolean): void {
    const { status, reason } = DROPPED[this.row.stopping ?? 'failed'];
    for (const place of this.state.pending())
      if (hasBegun(place)) this.start(place);
      else this.endUncalled(place, status, reason);
    this.row.dropped = true;
  }

  /** For whoever writes them. */
  takeMoves(): StepMove[] {
    const moves = [...this.#moves.values()];
    this.#moves.clear();
    this.#ended = 0;
    return moves;
  }

  /** Those that do not move again, where there are enough of them to be worth it. */
  takeEnded(): StepMove[] {
    if (this.#ended < WORTH_WRITING) return [];
    this.#ended = 0;
    const ended = [...this.#moves].filter(([, { status }]) => status !== 'started');
    for (const [key] of ended) this.#moves.delete(key);
    return ended.map(([, move]) => move);
  }

  /** What is to be kept. With nothing left that has not ended the run is over, and no longer counts as live itself. */
  save(): SavedRun {
    const { run_id, stopping, dropped, live, unended, ended, seq, calls } = this.row;
    const active = unended > 0;
    const more = active ? this.more : { ...this.more, live: this.more.live - 1 };
    return {
      run_id,
      active,
      stopping,
      dropped,
      waiting: stopping === null && this.state.hasReady(),
      live,
      unended,
      ended,
      seq,
      calls,
      status: this.#status(active),
      reason: this.#reason,
      more,
      told: this.since === 0 || !active || this.#reason !== null || Object.values(more).some((count) => count !== 0),
    };
  }

  #countCall(step: number): void {
    const { tool_id } = this.step(step);
    this.row.calls[tool_id] = (this.row.calls[tool_id] ?? 0) + 1;
    this.row.live += 1;
  }

  /** Whether the run goes on only once it is known what became of a step: where its failure would stop it. */
  #waitsFor(step: number): boolean {
    return this.row.stopping === null && this.step(step).on_error === 'stop';
  }

  #end(place: Place, status: End, reason: string | null, why: string | null, has_invocation: boolean): void {
    this.row.unended -= 1;
    this.#stopIf(place, status, why);
    this.#move(place, status, reason, has_invocation);
    if (place.element >= 0) this.#endFan(place.step);
  }

  /** With its last element a step has ended. */
  #endFan(step: number): void {
    const fan = this.state.fanOf(step);
    if (!fan || fan.unended > 0 || this.state.statusOf(step) !== 'started') return;
    const status = fan.unsuccessful === 0 ? 'succeeded' : 'failed';
    this.row.unended -= 1;
    this.#stopIf({ step, element: -1 }, status, null);
    const seq = this.nextSeq();
    this.ended_fans.push({ run_id: this.run_id, step, status, unsuccessful: fan.unsuccessful, seq });
    this.state.apply({ step, element: -1, status });
  }

  #stopIf({ step: index, element }: Place, status: End, why: string | null): void {
    const step = this.step(index);
    if (TOLERATED.has(status) || step.on_error !== 'stop' || this.row.stopping) return;
    this.row.stopping = 'failed';
    const where = element >= 0 ? `${step.id}[${element}]` : step.id;
    this.#reason ??= `${where} is ${status}${why === null ? '' : `: ${why}`}`;
  }

  #move({ step, element }: Place, status: StepMove['status'], reason: string | null, has_invocation: boolean): void {
    const told = reason && storable(reason);
    const seq = this.nextSeq();
    if (status !== 'started') this.#ended += 1;
    this.#moves.set(`${step}.${element}`, {
      ...{ run_id: this.run_id, step, element, ...this.titleOf(step), status, reason: told, has_invocation, seq },
    });
    this.state.apply({ step, element, status, told: status === 'started' && told !== null });
  }

  #status(active: boolean): RunStatus {
    if (!active) return this.row.stopping ?? 'completed';
    return this.row.paused ? 'paused' : 'running';
  }
}

const COUNTED = {
  skipped: 'skipped',
  failed: 'failed',
  denied: 'denied',
  canceled: 'canceled',
  succeeded: 'completed',
} as const;

const DROPPED = {
  canceled: { status: 'canceled', reason: 'the run was canceled' },
  failed: { status: 'skipped', reason: 'the run stopped before it' },
} as const;

/** A reason may quote what a tool answered: short, and nothing that Postgres refuses. */
const storable = (text: string): string => text.slice(0, 1000).toWellFormed().replaceAll('\u0000', '\ufffd');
