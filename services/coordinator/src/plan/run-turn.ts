import type { JsonObject, RunStatus } from '@capstan/contracts';
import type { CompiledStep } from '@capstan/plan';
import type { CompiledPolicy } from '@capstan/policy';
import type { ClaimedRun, EndedFan, Ending, SavedRun, StepMove, Titled } from '@capstan/store/plan';
import { TOLERATED } from './fan.js';
import type { Place, RunState } from './run-state.js';

/** The most steps started in one turn, so that other runs get theirs. */
export const CHUNK = 1000;

const WORTH_WRITING = 100;
const TO_RESOLVE = 'it is not known whether the call took effect; resolve or redrive it';

type End = Exclude<StepMove['status'], 'pending' | 'started'>;

/** A run during a turn: its state when claimed, and its changes. */
export class RunTurn {
  readonly run_id: string;
  /** The version of the run before this turn. */
  readonly since: number;
  /**
   * True if the cached state may be stale: another turn may have changed the run or called its pending steps. Also true before the
   * first turn, unless the run is untouched: a run that continues another one begins with ended or fanned-out steps.
   */
  readonly unsure: boolean;
  readonly more: SavedRun['more'] = { total: 0, live: 0, completed: 0, denied: 0, failed: 0, canceled: 0, skipped: 0 };
  /** Changes not written yet. A step that starts and ends within a turn is written once. */
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

  /** How many more steps may run at once. */
  room(): number {
    const { paused, stopping, max_parallel, live } = this.row;
    if (paused || stopping) return 0;
    return max_parallel === null ? CHUNK : Math.min(CHUNK, max_parallel - live);
  }

  canStart(): boolean {
    return this.room() > 0 && this.state.hasReady();
  }

  /** Marks a step as called. Its completion arrives later. */
  start(place: Place): void {
    this.#countCall(place.step);
    this.#move(place, 'started', null, true);
  }

  /** Marks a step as fanned out. Its elements are called and counted in its place. */
  fanOut(step: number, elements: number): void {
    this.fanned.add(step);
    this.row.unended += elements;
    this.more.total += elements - 1;
    this.more.live += elements - 1;
    this.state.apply({ step, element: -1, status: 'started', elements });
  }

  /** Ends a step that was denied or needs no call. */
  endUncalled(place: Place, status: keyof typeof COUNTED, reason: string | null): void {
    this.more.live -= 1;
    if (status !== 'skipped') this.row.ended += 1;
    this.more[COUNTED[status]] += 1;
    this.#end(place, status, reason, reason, status === 'denied');
  }

  /** Applies the end of a call. Repeated completions are ignored. */
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

  /** Ends all pending steps, except those that a lost turn has already called. */
  drop(hasBegun: (place: Place) => boolean): void {
    const { status, reason } = DROPPED[this.row.stopping ?? 'failed'];
    for (const place of this.state.pending())
      if (hasBegun(place)) this.start(place);
      else this.endUncalled(place, status, reason);
    this.row.dropped = true;
  }

  /** Takes the changes that are not written yet. */
  takeMoves(): StepMove[] {
    const moves = [...this.#moves.values()];
    this.#moves.clear();
    this.#ended = 0;
    return moves;
  }

  /** Takes the changes that are final, if there are enough of them to be worth a statement. */
  takeEnded(): StepMove[] {
    if (this.#ended < WORTH_WRITING) return [];
    this.#ended = 0;
    const ended = [...this.#moves].filter(([, { status }]) => status !== 'started');
    for (const [key] of ended) this.#moves.delete(key);
    return ended.map(([, move]) => move);
  }

  /** The new row of the run. Once every step has ended the run is over, and no longer counts as live itself. */
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

  /** True if the run waits for an ambiguous step to be resolved, because its failure would stop the run. */
  #waitsFor(step: number): boolean {
    return this.row.stopping === null && this.step(step).on_error === 'stop';
  }

  #end(place: Place, status: End, reason: string | null, why: string | null, has_invocation: boolean): void {
    this.row.unended -= 1;
    this.#stopIf(place, status, why);
    this.#move(place, status, reason, has_invocation);
    if (place.element >= 0) this.#endFan(place.step);
  }

  /** A step ends with its last element. */
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
    this.#reason ??= `step ${where} ${status.replaceAll('_', ' ')}${why === null ? '' : `: ${why}`}`;
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
  failed: { status: 'skipped', reason: 'the run stopped before this step' },
} as const;

/** A reason may quote tool output: shorten it, and remove characters that Postgres refuses. */
const storable = (text: string): string => text.slice(0, 1000).toWellFormed().replaceAll('\u0000', '\ufffd');
