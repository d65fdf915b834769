import { setTimeout as delay } from 'node:timers/promises';
import type { AppCall, AppResult } from '@capstan/contracts';
import { CapstanError, NotFound } from '../errors.js';
import { logLine, progressLine, textOf } from './lines.js';
import { Outgoing } from './outgoing.js';
import type { PoolProtocol } from './pool.js';
import { runTool } from './run-tool.js';
import type { AnyTool, ToolContext } from './tool.js';

export type PoolWorkerOptions = {
  worker_id: string;
  version: string;
  concurrency: number;
  drain_ms: number;
  tools: ReadonlyMap<string, AnyTool>;
  declare(): Promise<unknown>;
  /** Called for errors after which the worker retries. */
  onError(error: Error): void;
};

/** A call of this process, from its claim until its result is accepted. */
type Running = { call: AppCall; stop: AbortController; deadline: number; ended: boolean; lost: boolean };

const WAIT_S = 20;
const RETRY_MS = [100, 500, 1000, 2000, 5000];
const LEASE_MS = 15_000;
const STOP_GRACE_MS = 5000;
const MAX_REMEMBERED = 10_000;
/** How far two clocks may differ about when a deadline passes. */
const CLOSE_MS = 100;

/**
 * Keeps a claim request open while there is room, and always a heartbeat, which renews the lease and returns at once if a call is to be
 * stopped. Failures of the gateway or the network are retried by requests that do not wait: they get through where every long one is
 * cut. No call starts unless the lease is certain to be valid.
 */
export class PoolWorker {
  #pool: PoolProtocol;
  #options: PoolWorkerOptions;
  #running = new Map<string, Running>();
  #busy = 0;
  /** Attempts that this process has started. None is started twice, even if it is delivered again. */
  #begun = new Recent(MAX_REMEMBERED);
  #seq = 0;
  #lease_ms = LEASE_MS;
  #held_until = 0;
  #stopping = new AbortController();
  #over = new AbortController();
  #claiming: Promise<void> = Promise.resolve();
  #beating: Promise<void> = Promise.resolve();
  #freed: (() => void) | null = null;
  #results: Outgoing<AppResult>;
  #lines: Outgoing<{ invocation_id: string; attempt: number; stream: 'stdout' | 'stderr'; text: string }>;

  constructor(pool: PoolProtocol, options: PoolWorkerOptions) {
    this.#pool = pool;
    this.#options = options;
    const { worker_id, onError } = options;
    this.#results = new Outgoing({
      send: async (results) => {
        const { outcomes } = await pool.settle({ worker_id, results: [...results] });
        for (const { invocation_id, attempt, outcome } of outcomes) {
          this.#forget(invocation_id, attempt);
          if (outcome === 'refused')
            onError(new Error(`the result of ${invocation_id}, attempt ${attempt}, came too late`));
        }
      },
      onError,
      onRefused: ({ invocation_id, attempt, status }, error) => {
        onError(error);
        // A payload that the gateway refuses, for example because of its size, fails the call, which would otherwise run into its deadline.
        if (status === 'succeeded')
          this.#results.add({
            invocation_id,
            attempt,
            status: 'failed',
            error: `its result was refused: ${error.message}`,
          });
        else this.#forget(invocation_id, attempt);
      },
    });
    this.#lines = new Outgoing({
      send: async (lines) => void (await pool.log({ worker_id, lines: [...lines] })),
      onError,
      onRefused: (_, error) => onError(error),
    });
  }

  start(): void {
    this.#claiming = this.#claimOn();
    this.#beating = this.#beatOn();
  }

  async stop(): Promise<void> {
    const { worker_id, drain_ms } = this.#options;
    if (this.#stopping.signal.aborted) return;
    this.#stopping.abort();
    this.#freed?.();
    await this.#claiming;
    const drained = this.#pool.beat({ worker_id, running: this.#names(), state: 'draining' }).catch(() => {});
    await this.#untilIdle(drain_ms);
    for (const one of this.#running.values()) one.stop.abort('shutdown');
    await this.#untilIdle(STOP_GRACE_MS);
    await Promise.race([Promise.all([this.#results.idle(), drained]), delay(STOP_GRACE_MS, undefined, { ref: false })]);
    this.#over.abort();
    await this.#beating;
    this.#results.close();
    this.#lines.close();
    // Without this, calls on their way here would be requeued only after the lease has expired.
    await this.#pool.beat({ worker_id, running: this.#names(), state: 'stopped' }).catch(() => {});
  }

  async #claimOn(): Promise<void> {
    const { worker_id, version, concurrency } = this.#options;
    const { signal } = this.#stopping;
    for (let failures = 0; !signal.aborted; ) {
      const slots = concurrency - this.#busy;
      if (slots <= 0) {
        await new Promise<void>((resolve) => {
          this.#freed = resolve;
        });
        continue;
      }
      const asked = performance.now();
      try {
        const wait_s = failures > 0 ? 0 : WAIT_S;
        const claim = { worker_id, version, slots, wait_s, running: this.#names(), seq: this.#seq++ };
        const { calls, lease_ms } = await this.#pool.claim(claim, { signal });
        this.#lease_ms = lease_ms;
        this.#held_until = Math.max(this.#held_until, asked + lease_ms);
        failures = 0;
        if (signal.aborted) return;
        for (const call of calls) this.#begin(call);
        // Something in between answers instead of waiting.
        if (calls.length === 0 && wait_s > 0 && performance.now() - asked < 50) await delay(200, undefined, { signal });
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof NotFound) await this.#options.declare().catch(() => {});
        await this.#rest(error, failures++, signal);
      }
    }
  }

  async #beatOn(): Promise<void> {
    const { worker_id } = this.#options;
    const { signal } = this.#over;
    for (let failures = 0; !signal.aborted; ) {
      const asked = performance.now();
      try {
        const wait_s = failures > 0 ? 0 : Math.min(this.#lease_ms / 3000, WAIT_S);
        const beat = { worker_id, running: this.#names(), wait_s };
        const state = this.#stopping.signal.aborted ? 'draining' : 'serving';
        const { cancel, lost, lease_ms } = await this.#pool.beat({ ...beat, state }, { signal });
        this.#lease_ms = lease_ms;
        this.#held_until = Math.max(this.#held_until, asked + lease_ms);
        failures = 0;
        for (const id of cancel) this.#cancel(id);
        for (const id of lost) this.#lose(id);
        // The gateway repeats cancellations until the calls are settled.
        if (cancel.length > 0 || performance.now() - asked < 50) await delay(200, undefined, { signal });
      } catch (error) {
        if (signal.aborted) return;
        await this.#rest(error, failures++, signal);
      }
    }
  }

  #begin(call: AppCall): void {
    const { invocation_id, attempt } = call;
    // If the lease may have expired, nothing may start: the calls may belong to other workers by now.
    if (performance.now() >= this.#held_until) return;
    const before = this.#running.get(invocation_id);
    const name = `${invocation_id} ${attempt}`;
    if (this.#begun.has(name)) {
      // The gateway delivers the attempt again, so it has no result, and neither has this process.
      if (!before) this.#results.add({ invocation_id, attempt, status: 'unknown', error: 'its result was lost' });
      return;
    }
    this.#begun.add(name);
    if (before) this.#lose(invocation_id);
    const deadline = performance.now() + call.timeout_ms;
    const one: Running = { call, stop: new AbortController(), deadline, ended: false, lost: false };
    this.#running.set(invocation_id, one);
    this.#busy += 1;
    void this.#run(one).then((result) => {
      one.ended = true;
      this.#busy -= 1;
      this.#freed?.();
      this.#freed = null;
      if (!one.lost) this.#results.add(result);
    });
  }

  async #run(one: Running): Promise<AppResult> {
    const { call, stop } = one;
    const { invocation_id, attempt } = call;
    const found = this.#options.tools.get(call.tool_id);
    if (!found) return { invocation_id, attempt, status: 'returned' };
    const deadline = setTimeout(() => stop.abort('timeout'), call.timeout_ms);
    try {
      const payload = await runTool(found, call.inputs, this.#contextOf(one));
      return { invocation_id, attempt, status: 'succeeded', payload };
    } catch (error) {
      if (stop.signal.aborted) return { invocation_id, attempt, status: 'stopped' };
      const text = error instanceof Error ? error.message || error.name : textOf(error);
      return {
        invocation_id,
        attempt,
        status: 'failed',
        error: text,
        retryable: error instanceof Error && error.name === 'Retryable',
      };
    } finally {
      clearTimeout(deadline);
      // All log lines must arrive before the result.
      await this.#lines.sent();
    }
  }

  #contextOf({ call, stop }: Running): ToolContext {
    const { worker_id } = this.#options;
    const { invocation_id, attempt } = call;
    const one = { invocation_id, attempt };
    const write = (stream: 'stdout' | 'stderr', text: string) => this.#lines.add({ ...one, stream, text: `${text}\n` });
    return {
      ...one,
      tenant: call.tenant,
      actor: call.actor,
      session_id: call.session_id,
      idempotency_key: call.idempotency_key,
      deadline_at: new Date(Date.now() + call.timeout_ms),
      traceparent: call.traceparent,
      signal: stop.signal,
      log: (...what) => write('stdout', logLine(what)),
      progress: (fraction, message) => write('stderr', progressLine(fraction, message)),
      secret: async (name, { hosts } = {}) => {
        const asked = { worker_id, ...one, name, ...(hosts ? { hosts } : {}) };
        return (await insist(() => this.#pool.secret(asked), stop.signal)).value;
      },
      artifact: (name, content, media_type = 'application/octet-stream') =>
        insist(() => this.#pool.keep({ worker_id, ...one, name }, content, media_type), stop.signal),
    };
  }

  /** Also called for calls whose deadline has passed. */
  #cancel(invocation_id: string): void {
    const one = this.#running.get(invocation_id);
    one?.stop.abort(performance.now() >= one.deadline - CLOSE_MS ? 'timeout' : 'cancel');
  }

  /** Another worker has the call now, so its result is not sent. */
  #lose(invocation_id: string): void {
    const one = this.#running.get(invocation_id);
    if (!one || one.ended) return;
    one.lost = true;
    one.stop.abort('lost');
    this.#running.delete(invocation_id);
  }

  #forget(invocation_id: string, attempt: number): void {
    if (this.#running.get(invocation_id)?.call.attempt === attempt) this.#running.delete(invocation_id);
  }

  #names(): string[] {
    return [...this.#running.keys()];
  }

  async #untilIdle(ms: number): Promise<void> {
    const until = performance.now() + ms;
    while (this.#busy > 0 && performance.now() < until) await delay(20);
  }

  async #rest(error: unknown, failures: number, signal: AbortSignal): Promise<void> {
    const retry_ms = RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? 0;
    if (failures > 0) this.#options.onError(error instanceof Error ? error : new Error(String(error)));
    await delay(retry_ms * (0.5 + Math.random()), undefined, { signal }).catch(() => {});
  }
}

const PASSING = new Set([429, 502, 503, 504]);

/** Repeats a request while the gateway cannot be reached, so that a function outlives its restart. `stop` aborts at the call's deadline. */
async function insist<T>(send: () => Promise<T>, stop: AbortSignal): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof CapstanError && PASSING.has(error.status)) || stop.aborted) throw error;
      await delay(RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? 0, undefined, { signal: stop }).catch(() => {});
    }
  }
}

/** A set that keeps only the latest names. */
class Recent {
  #names = new Set<string>();
  #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  add(name: string): void {
    this.#names.add(name);
    const [oldest] = this.#names.size > this.#max ? this.#names : [];
    if (oldest !== undefined) this.#names.delete(oldest);
  }
}
