import { setTimeout as delay } from 'node:timers/promises';
import type { QueueName } from '@capstan/contracts';
import type { Running, StopReason } from '@capstan/execution';
import { type Consumer, offerOf } from '@capstan/queue';

/** What runs in this worker, and whether it takes more: first it works, then it drains, then it has stopped. */
export class Load {
  readonly running = new Map<string, Running>();
  readonly consumers = new Map<QueueName, Consumer>();
  #state: 'working' | 'draining' | 'stopped' = 'working';

  /** True if calls may begin. */
  isWorking(): boolean {
    return this.#state === 'working';
  }

  /** True while results can still be written. */
  isAlive(): boolean {
    return this.#state !== 'stopped';
  }

  isBusy(): boolean {
    return this.running.size > 0;
  }

  cancel(ids: readonly string[]): void {
    for (const id of ids) this.running.get(id)?.stop('cancel');
  }

  stopAll(reason: StopReason): void {
    for (const one of this.running.values()) one.stop(reason);
  }

  /** The free slots of each runner type, as messages to gateways. */
  offers(worker_id: string): string[] {
    return [...this.consumers].map(([runner, consumer]) =>
      offerOf(worker_id, runner, this.isAlive() ? consumer.offered() : 0),
    );
  }

  /** Takes no more calls. Resolves when no claim is in flight. */
  async stopConsumers(): Promise<void> {
    await Promise.all([...this.consumers.values()].map((consumer) => consumer.stop()));
  }

  drain(): void {
    this.#state = 'draining';
  }

  end(): void {
    this.#state = 'stopped';
  }

  /** Resolves when nothing runs, or after this time. */
  async untilEmpty(timeout_ms: number): Promise<void> {
    const deadline = performance.now() + timeout_ms;
    while (this.isBusy() && performance.now() < deadline) await delay(20);
  }
}
