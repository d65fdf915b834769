import { setTimeout as delay } from 'node:timers/promises';
import type { Backbone } from '@capstan/backbone';
import type { QueueName, RunnerType } from '@capstan/contracts';
import {
  auditStarts,
  createKeeper,
  createLogWriter,
  createPolicies,
  createQuestionPorts,
  createSecretResolver,
  createSessionPorts,
  createSettler,
  createWorkerMetrics,
  HeldTasks,
  Intake,
  type Policies,
  Receipts,
  runInvocation,
  type SecretSources,
  type Settler,
  type WorkerContext,
  type WorkerMetrics,
} from '@capstan/execution';
import type { Consumer, Relay } from '@capstan/queue';
import type { Redactor } from '@capstan/redact';
import type { Runner } from '@capstan/runners';
import { type ArtifactStorage, artifactStorage } from '@capstan/store/artifact';
import { useApproval } from '@capstan/store/hold';
import { parseSecretKeys } from '@capstan/store/secret';
import { holdLease, type Lease } from './lease.js';
import { Load } from './load.js';
import { Pauses } from './pauses.js';
import { type Watched, watchForWedge } from './watchdog.js';

export type WorkerOptions = {
  runner_types: QueueName[];
  concurrency(runner: QueueName): number;
  lease_ms: number;
  drain_ms: number;
  wedge_ms: number;
  runners: ReadonlyMap<RunnerType, Runner>;
  redactor: Redactor;
  /** Where artifacts are stored; in Postgres by default. */
  artifacts?: ArtifactStorage;
  /** Where `secret://name` is looked up, besides Postgres. */
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
  const { store, relay, log } = backbone;
  const load = new Load();
  const pauses = await Pauses.of(store, load.consumers);
  const slots = Object.fromEntries(options.runner_types.map((runner) => [runner, options.concurrency(runner)]));
  const metrics = createWorkerMetrics(slots, load.running);
  const receipts = new Receipts(2 * options.lease_ms);
  const offers = () => load.offers(lease.worker_id());

  const lease = await holdLease(backbone, {
    runners: options.runner_types,
    concurrency: Object.values(slots).reduce((sum, count) => sum + count, 0),
    slots,
    lease_ms: options.lease_ms,
    onBeat: (beat) => {
      load.cancel(beat.cancel);
      intake.adopt(beat.receipts);
      relay.publish('room', offers());
      pauses.heard(beat.paused);
    },
    onLost: () => load.stopAll('lost'),
    onRegistered: (worker_id) => intake.receiveAs(worker_id),
  });
  const settler = createSettler(backbone, {
    ...{ receipts, offers },
    isAlive: () => load.isAlive(),
    running: () => load.running.size,
  });
  const policies = await createPolicies(store, relay);
  const context = contextOf(backbone, options, {
    running: load.running,
    policies,
    metrics,
    mayBegin: () => load.isWorking() && lease.isHeld(),
    holdsLease: lease.isHeld,
    settle: (one, settlement) => void settler.settle(one, settlement),
    questions: createQuestionPorts({ store, relay }, (in_ms) => heldTasks?.expect(in_ms)),
  });
  const heldTasks = options.runner_types.includes('mcp') ? new HeldTasks(context, backbone) : null;
  const intake = new Intake(backbone, {
    worker_id: lease.worker_id,
    lease_ms: options.lease_ms,
    receipts,
    isAlive: () => load.isAlive(),
    run: (claimed) => runInvocation(context, claimed),
    consumer: (runner) => load.consumers.get(runner),
  });

  const watched = consumeAll(backbone, options, intake, load.consumers);
  intake.receiveAs(lease.worker_id());
  backbone.dispatcher.wake(options.runner_types);
  pauses.apply();
  const unsubscribe = [
    listen(relay, load, pauses),
    watchForWedge(backbone.queue, watched, options.wedge_ms, options.onWedged),
  ];
  log.info({ worker_id: lease.worker_id(), runners: options.runner_types }, 'worker started');

  const parts: Parts = { load, lease, heldTasks, settler, policies, offers, unsubscribe };
  const stop = () => shutDown(backbone, options, parts);
  return { worker_id: lease.worker_id, paused: () => pauses.now(), metrics, stop };
}

/** Stops calls that somebody canceled, and queues that somebody paused. */
function listen(relay: Relay, load: Load, pauses: Pauses): () => void {
  const offs = [
    relay.subscribe('cancel', (ids) => load.cancel(ids)),
    relay.subscribe('refresh', (what) => {
      if (what.includes('queues')) pauses.look().catch(() => {});
    }),
  ];
  return () => {
    for (const off of offs) off();
  };
}

/** How long tools may take to stop, and then how long writing their results may take. */
const STOP_MS = 10_000;

type Parts = {
  load: Load;
  lease: Lease;
  heldTasks: HeldTasks | null;
  settler: Settler;
  policies: Policies;
  offers(): string[];
  unsubscribe: readonly (() => void)[];
};

/** Claims nothing more, lets running tools finish within `drain_ms`, stops the rest, and writes their results. */
async function shutDown({ relay, log }: Backbone, options: WorkerOptions, parts: Parts): Promise<void> {
  const { load, lease, heldTasks, settler, policies, offers, unsubscribe } = parts;
  load.drain();
  await lease.drain().catch(() => {});
  await heldTasks?.stop();
  await load.stopConsumers();
  relay.publish('room', offers());
  await load.untilEmpty(options.drain_ms);
  load.stopAll('shutdown');
  await load.untilEmpty(STOP_MS);
  await Promise.race([settler.idle(), delay(STOP_MS, undefined, { ref: false })]);
  load.end();
  for (const off of unsubscribe) off();
  policies.close();
  await lease.stop().catch(() => {});
  await Promise.all([...options.runners.values()].map((runner) => runner.close?.()));
  log.info({ worker_id: lease.worker_id() }, 'worker stopped');
}

type OwnParts = Pick<
  WorkerContext,
  'running' | 'policies' | 'metrics' | 'mayBegin' | 'holdsLease' | 'settle' | 'questions'
>;

/** The context of the pipeline. */
function contextOf(
  { store, relay, log, catalog, rules }: Backbone,
  options: WorkerOptions,
  own: OwnParts,
): WorkerContext {
  return {
    ...own,
    catalog,
    rules,
    log,
    runners: options.runners,
    redactor: options.redactor,
    approval: ({ invocation_id }, about_to_run) => useApproval(store, invocation_id, about_to_run),
    audit: auditStarts(store),
    logs: createLogWriter(store, relay, (error) => log.warn({ err: error }, 'log lines were lost')),
    keep: createKeeper(store, options.artifacts ?? artifactStorage(null)),
    secret: createSecretResolver(store, options.secrets ?? { env: {}, keys: parseSecretKeys(undefined) }),
    session: createSessionPorts(store),
  };
}

/** Starts a consumer for each runner type. Returns them with the time of their last claim, for the watchdog. */
function consumeAll(
  { queue }: Backbone,
  { runner_types, concurrency, lease_ms }: WorkerOptions,
  intake: Intake,
  consumers: Map<QueueName, Consumer>,
): Watched[] {
  return runner_types.map((runner) => {
    const taken = { last: performance.now() };
    const source = intake.sourceOf(runner, () => {
      taken.last = performance.now();
    });
    const consumer = queue.consume({ runner, concurrency: concurrency(runner), lease_ms }, source);
    consumers.set(runner, consumer);
    return { runner, consumer, lastTake: () => taken.last };
  });
}
