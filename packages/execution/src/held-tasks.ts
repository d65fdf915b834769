import { type Backbone, tellReady } from '@capstan/backbone';
import type { TerminalStatus } from '@capstan/contracts';
import type { WaitingCall } from '@capstan/runners';
import { forgetHeldTask, type HeldTask, nextHeldTask, takeHeldTasks, withdrawQuestion } from '@capstan/store/hold';
import { decideAgain } from './pipeline.js';
import type { WorkerContext } from './worker-context.js';

type HeldTaskContext = Pick<WorkerContext, 'catalog' | 'rules' | 'runners' | 'policies' | 'secret' | 'log'>;

const BATCH = 20;
/** How often to check for tasks whose worker is gone. */
const BACKSTOP_MS = 15_000;
const LOOK_TIMEOUT_MS = 10_000;
const MOVED_ON = 'the task went on at its server without an answer from here';
/** If a call ended like this, nobody wants its task any more. */
const UNWANTED: ReadonlySet<TerminalStatus> = new Set(['canceled', 'rejected', 'expired', 'denied']);

/**
 * Checks on calls that are held with a question while their task continues on its server. No attempt runs in the meantime, so a hold
 * of a day takes up no slot. If a task no longer asks, because somebody answered it elsewhere, its question is closed here, and the
 * next attempt follows the task to its end. Postgres records when each is due, so any worker can check it.
 */
export class HeldTasks {
  readonly #worker: HeldTaskContext;
  readonly #backbone: Backbone;
  readonly #stopped = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #due = Infinity;
  #turn: Promise<void> = Promise.resolve();

  constructor(worker: HeldTaskContext, backbone: Backbone) {
    this.#worker = worker;
    this.#backbone = backbone;
    this.expect(0);
  }

  /** A task has to be checked in `in_ms`. */
  expect(in_ms: number): void {
    const due = performance.now() + in_ms;
    if (due >= this.#due || this.#stopped.signal.aborted) return;
    this.#due = due;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#due = Infinity;
      this.#turn = this.#turn.then(() => this.#look());
    }, in_ms);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    clearTimeout(this.#timer);
    await this.#turn;
  }

  async #look(): Promise<void> {
    const { store } = this.#backbone;
    let next_ms: number | null = null;
    try {
      // Most installations have no held tasks, and pay for one statement only.
      next_ms = await nextHeldTask(store);
      if (next_ms !== null && next_ms <= 0) {
        const due = await takeHeldTasks(store, BATCH);
        await Promise.all(due.map((task) => this.#lookAt(task).catch((error: unknown) => this.#report(error, task))));
        next_ms = await nextHeldTask(store);
      }
    } catch (error) {
      this.#report(error);
    }
    this.expect(Math.min(BACKSTOP_MS, Math.max(0, next_ms ?? BACKSTOP_MS)));
  }

  async #lookAt(task: HeldTask): Promise<void> {
    const { store } = this.#backbone;
    if (task.ended !== null) await forgetHeldTask(store, task.invocation_id);
    const isUnwanted = task.ended !== null && UNWANTED.has(task.ended);
    if (!task.asks && !isUnwanted) return;
    const { tool_id, descriptor_hash } = task;
    const entry = this.#worker.catalog.get(tool_id) ?? (await this.#worker.catalog.find(tool_id, descriptor_hash));
    const runner = entry && this.#worker.runners.get(entry.descriptor.runner);
    if (!entry || !runner) return;
    const { effect, limits } = await decideAgain(this.#worker, task, entry);
    // If the policy denies the tool by now, its server is not contacted either.
    if (effect === 'deny') return;
    const call: WaitingCall = {
      ...{ tenant: task.tenant, actor: task.actor, descriptor: entry.descriptor, limits },
      signal: AbortSignal.any([this.#stopped.signal, AbortSignal.timeout(LOOK_TIMEOUT_MS)]),
      secret: (name, hosts) => this.#worker.secret(task, name, hosts),
    };
    if (isUnwanted) await runner.abandon?.(call, task.state);
    else if ((await runner.stillAsks?.(call, task.state)) === false) await this.#goOn(task);
  }

  async #goOn(task: HeldTask): Promise<void> {
    const readied = await withdrawQuestion(this.#backbone.store, task, MOVED_ON);
    if (!readied) return;
    this.#backbone.relay.publish('due', ['now', 'events']);
    this.#backbone.relay.publish('changed', [task.invocation_id]);
    tellReady(this.#backbone, readied);
  }

  /** Only logged, because the next check comes anyway. */
  #report(error: unknown, task?: HeldTask): void {
    if (this.#stopped.signal.aborted) return;
    const about = task ? { invocation_id: task.invocation_id, tool_id: task.tool_id } : {};
    this.#worker.log.warn({ err: error, ...about }, 'a held task could not be looked at');
  }
}
