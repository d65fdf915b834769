import { setTimeout as delay } from 'node:timers/promises';
import type { Backbone } from '@capstan/backbone';
import type { QueueName, RunnerType } from '@capstan/contracts';
import {
  auditStarts,
  createIntake,
  createKeeper,
  createLogWriter,
  createPolicies,
  createQuestionPorts,
  createSecretResolver,
  createSessionPorts,
  createSettler,
  createWorkerMetrics,
  Receipts,
  type Running,
  runInvocation,
  type SecretSources,
  type StopReason,
  type WorkerContext,
  type WorkerMetrics,
} from '@capstan/execution';
import { type Consumer, offerOf } from '@capstan/queue';
import type { Redactor } from '@capstan/redact';
import type { Runner } from '@capstan/runners';
import {
  type ArtifactStorage,
  artifactStorage,
  type Heartbeat,
  parseSecretKeys,
  pausedRunners,
  useApproval,
} from '@capstan/store';
import { holdLease } from './lease.js';
import { type Watched, watchForWedge } from './watchdog.js';

export type WorkerOptions = {
  runner_types: QueueName[];
  concurrency(runner: QueueName): number;
  lease_ms: number;
  drain_ms: number;
  wedge_ms: number;
  runners: ReadonlyMap<RunnerType, Runner>;
  redactor: Redactor;
  /** Where files that runs leave are kept; in Postgres alone without it. */
  artifacts?: ArtifactStorage;
  /** Where `secret://name` is looked up, beside Postgres. */
  secrets?: SecretSources;
  onWedged(runner: QueueName): void;
};

export type Worker = {
  worker_id(): string;
  paused(): QueueName[];
  metrics: WorkerMetrics;
  stop(): Promise<void>;
};

export async function startWorker(backbone: Backbone, options: WorkerOptions): Promise<Worker> {
  const { store, queue, relay, log } = backbone;
  const running = new Map<string, Running>();
  const stopAll = (reason: StopReason) => {
    for (const one of running.values()) one.stop(reason);
  };
  const cancel = (ids: string[]) => {
    for (const id of ids) running.get(id)?.stop('cancel');
  };
  const consumers = new Map<QueueName, Consumer>();
  const applyPauses = (paused: QueueName[]) => {
    for (const [runner, consumer] of consumers) paused.includes(runner) ? consumer.pause() : consumer.resume();
  };

  let alive = true;
  let stopping = false;
  const receipts = new Receipts(2 * options.lease_ms);
  const offers = () => {
    const worker_id = lease.worker_id();
    return [...consumers].map(([runner, consumer]) => offerOf(worker_id, runner, alive ? consumer.offered() : 0));
  };
  const settler = createSettler(backbone, {
    receipts,
    offers,
    isAlive: () => alive,
    isBusy: () => running.size > 0,
  });
  const paused = await pausedRunners(store);
  let pausedNow = paused;
  const onBeat = ({ cancel: ids, paused: now, receipts: mine }: Heartbeat) => {
    cancel(ids);
    intake.adopt(mine);
    relay.publish('room', offers());
    if (now.join() === pausedNow.join()) return;
    pausedNow = now;
    applyPauses(now);
  };
  const slots = Object.fromEntries(options.runner_types.map((runner) => [runner, options.concurrency(runner)]));
  const lease = await holdLease(backbone, {
    runners: options.runner_types,
    concurrency: options.runner_types.reduce((sum, runner) => sum + options.concurrency(runner), 0),
    slots,
    lease_ms: options.lease_ms,
    onBeat,
    onLost: () => stopAll('lost'),
    onRegistered: (worker_id) => intake.receiveAs(worker_id),
  });

  const metrics = createWorkerMetrics(slots, running);
  const logs = createLogWriter(store, relay, (error) => log.warn({ err: error }, 'log lines were lost'));
  const policies = await createPolicies(store, relay);
  const context: WorkerContext = {
    catalog: backbone.catalog,
    rules: backbone.rules,
    runners: options.runners,
    policies,
    redactor: options.redactor,
    running,
    metrics,
    mayBegin: () => !stopping && lease.isHeld(),
    approval: ({ invocation_id }, about_to_run) => useApproval(store, invocation_id, about_to_run),
    audit: auditStarts(store),
    settle: (one, settlement) => void settler.settle(one, settlement),
    logs,
    keep: createKeeper(store, options.artifacts ?? artifactStorage(null)),
    secret: createSecretResolver(store, options.secrets ?? { env: {}, keys: parseSecretKeys(undefined) }),
    session: createSessionPorts(store),
    questions: createQuestionPorts({ store, relay }),
    log,
  };

  const intake = createIntake(backbone, {
    worker_id: lease.worker_id,
    lease_ms: options.lease_ms,
    receipts,
    isAlive: () => alive,
    run: (claimed) => runInvocation(context, claimed),
    consumer: (runner) => consumers.get(runner),
  });
  const watched: Watched[] = [];
  for (const runner of options.runner_types) {
    const watch = { runner, lastTake: performance.now() };
    const consumer = queue.consume(
      { runner, concurrency: options.concurrency(runner), lease_ms: options.lease_ms },
      intake.sourceOf(runner, () => {
        watch.lastTake = performance.now();
      }),
    );
    consumers.set(runner, consumer);
    watched.push(Object.assign(watch, { consumer }));
  }
  intake.receiveAs(lease.worker_id());
  backbone.dispatcher.wake(options.runner_types);
  applyPauses(paused);
  let looks = 0;
  /** Also where nothing seems to have changed: a pause may have come and gone, and what was delivered meanwhile with it. */
  const lookAtPauses = async () => {
    looks += 1;
    const mine = looks;
    const now = await pausedRunners(store);
    // A slow look must not bring back a pause that a later one has seen end.
    if (mine !== looks) return;
    pausedNow = now;
    applyPauses(now);
  };
  const unsubscribe = [
    relay.subscribe('cancel', cancel),
    relay.subscribe('refresh', (what) => {
      if (what.includes('queues')) lookAtPauses().catch(() => {});
    }),
  ];
  const unwatch = watchForWedge(queue, watched, options.wedge_ms, options.onWedged);
  log.info({ worker_id: lease.worker_id(), runners: options.runner_types }, 'worker started');

  /** Takes no more, lets what runs end within the grace period, and hands the rest back. */
  const stop = async () => {
    stopping = true;
    unwatch();
    await lease.drain().catch(() => {});
    await Promise.all([...consumers.values()].map((consumer) => consumer.stop()));
    relay.publish('room', offers());
    await untilEmpty(running, options.drain_ms);
    stopAll('shutdown');
    await untilEmpty(running, 10_000);
    const settled = settler.idle();
    await Promise.race([settled, delay(10_000, undefined, { ref: false })]);
    alive = false;
    for (const off of unsubscribe) off();
    policies.close();
    await lease.stop().catch(() => {});
    await Promise.all([...options.runners.values()].map((runner) => runner.close?.()));
    log.info({ worker_id: lease.worker_id() }, 'worker stopped');
  };
  return { worker_id: lease.worker_id, paused: () => pausedNow, metrics, stop };
}

async function untilEmpty(running: Map<string, unknown>, timeout_ms: number): Promise<void> {
  const deadline = performance.now() + timeout_ms;
  while (running.size > 0 && performance.now() < deadline) await delay(20);
}
