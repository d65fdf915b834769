import { hostname } from 'node:os';
import type { Backbone } from '@capstan/backbone';
import type { QueueName } from '@capstan/contracts';
import { type Heartbeat, keepLease, markDraining, registerWorker, stopWorker } from '@capstan/store/worker';
import { nanoid } from 'nanoid';

export type Lease = {
  worker_id(): string;
  /** True if the worker certainly still owns what it claimed. Counted from when a renewal was sent, so it never errs on the late side. */
  isHeld(): boolean;
  drain(): Promise<void>;
  stop(): Promise<void>;
};

type LeaseOptions = {
  runners: QueueName[];
  concurrency: number;
  slots: Record<string, number>;
  lease_ms: number;
  /** Cancellations and pauses, in case their signals were missed. */
  onBeat(beat: Heartbeat): void;
  /** The lease ended before it was renewed: everything claimed under it belongs to others now. */
  onLost(): void;
  /** The worker continues under a new id. */
  onRegistered(worker_id: string): void;
};

/** Registers the worker and renews its lease on a timer with one small statement, whatever the tools are doing. */
export async function holdLease({ store, log }: Backbone, options: LeaseOptions): Promise<Lease> {
  const { runners, concurrency, slots, lease_ms } = options;
  let worker_id = '';
  let held_until = 0;
  const register = async () => {
    const fresh = `wrk_${nanoid()}`;
    const asked = performance.now();
    await registerWorker(
      store,
      { worker_id: fresh, runners, host: hostname(), pid: process.pid, concurrency, slots },
      lease_ms,
    );
    worker_id = fresh;
    held_until = asked + lease_ms;
  };
  await register();

  let beating: Promise<void> | null = null;
  const beat = async () => {
    try {
      const asked = performance.now();
      const heard = await keepLease(store, worker_id, lease_ms);
      if (heard.kept) held_until = asked + lease_ms;
      else {
        log.warn({ worker_id }, 'the lease was lost; continuing under a new worker id');
        options.onLost();
        await register();
        options.onRegistered(worker_id);
      }
      options.onBeat(heard);
    } catch (error) {
      log.warn({ err: error }, 'the lease could not be renewed');
    }
  };
  const timer = setInterval(() => {
    beating ??= beat().finally(() => {
      beating = null;
    });
  }, lease_ms / 3);

  return {
    worker_id: () => worker_id,
    isHeld: () => performance.now() < held_until,
    drain: async () => {
      await markDraining(store, worker_id);
    },
    stop: async () => {
      clearInterval(timer);
      await beating;
      await stopWorker(store, worker_id);
    },
  };
}
