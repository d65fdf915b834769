import { createHash } from 'node:crypto';
import type { Backbone } from '@capstan/backbone';
import type {
  AppCall,
  Artifact,
  Pool,
  PoolArtifact,
  PoolBeat,
  PoolBeaten,
  PoolClaim,
  PoolLogs,
  PoolSecret,
  PoolSettled,
  PoolSettlement,
} from '@capstan/contracts';
import { Failure } from '@capstan/contracts';
import {
  auditStarts,
  createKeeper,
  createLogWriter,
  createPolicies,
  createQuestionPorts,
  createSecretFinder,
  createSecretResolver,
  createSessionPorts,
  createSettler,
  Receipts,
  type SecretSources,
  type WorkerMetrics,
} from '@capstan/execution';
import { offerOf } from '@capstan/queue';
import type { Redactor } from '@capstan/redact';
import {
  type ArtifactStorage,
  noteSecretUse,
  pausedRunners,
  readSecretUses,
  readTraces,
  useApproval,
} from '@capstan/store';
import { type AppContext, AppWorker } from './app-worker.js';
import type { LiveCall } from './live-call.js';
import type { PoolVersions } from './pool-versions.js';

export type AppWorkersOptions = {
  lease_ms: number;
  redactor: Redactor;
  artifacts: ArtifactStorage;
  secrets: SecretSources;
  metrics: Omit<WorkerMetrics, 'registry'>;
  versions: PoolVersions;
  stopping: AbortSignal;
};

/** The workers of pools that this gateway acts for. It keeps nothing of them that another could not find in Postgres. */
export type AppWorkers = {
  claim(pool: Pool, claim: PoolClaim, gone: AbortSignal): Promise<AppCall[]>;
  beat(pool: Pool, beat: PoolBeat, gone: AbortSignal): Promise<PoolBeaten>;
  settle(pool: Pool, settlement: PoolSettlement): Promise<PoolSettled>;
  log(pool: Pool, logs: PoolLogs): Promise<void>;
  keep(
    pool: Pool,
    artifact: PoolArtifact,
    file: { media_type: string; content: AsyncIterable<Uint8Array> | Uint8Array },
  ): Promise<Artifact>;
  secret(pool: Pool, asked: PoolSecret): Promise<string>;
  lease_ms: number;
  /** Once no request is under way. */
  stop(): Promise<void>;
};

export async function createAppWorkers(backbone: Backbone, options: AppWorkersOptions): Promise<AppWorkers> {
  const { store, relay, log, queue } = backbone;
  const { lease_ms, stopping, versions, redactor } = options;
  const workers = new Map<string, AppWorker>();
  const receipts = new Receipts(2 * lease_ms);
  const offers = () => [...workers.values()].map((one) => offerOf(one.worker_id, one.runner, one.offered()));
  let alive = true;
  const settler = createSettler(backbone, { receipts, offers, isAlive: () => alive, isBusy: () => false });
  const policies = await createPolicies(store, relay);
  const logs = createLogWriter(store, relay, (error) => log.warn({ err: error }, 'log lines were lost'));
  const findSecret = createSecretFinder(store, options.secrets);

  const app: AppContext = {
    backbone,
    lease_ms,
    receipts,
    versions,
    stopping,
    settle: (running, settlement) => settler.settle(running, settlement),
    offer: () => {
      if (queue.kind === 'postgres') relay.publish('room', offers());
    },
    takeUp: async ({ claimed, artifacts, secrets }: LiveCall, worker_id) => {
      const traces = await readTraces(store.db, claimed);
      artifacts.push(...traces.artifacts);
      logs.goOnAfter(claimed, traces.last_seq);
      for (const name of await readSecretUses(store.db, worker_id, claimed.invocation_id)) {
        const secret = await findSecret(claimed.tenant, name);
        if (secret) secrets.push(secret.value);
      }
    },
    pipeline: {
      rules: backbone.rules,
      policies,
      redactor,
      metrics: options.metrics,
      audit: auditStarts(store),
      approval: ({ invocation_id }, about_to_run) => useApproval(store, invocation_id, about_to_run),
      logs,
      keep: createKeeper(store, options.artifacts),
      secret: createSecretResolver(store, options.secrets),
      session: createSessionPorts(store),
      questions: createQuestionPorts({ store, relay }),
      log,
    },
  };

  const workerOf = (pool: Pool, name: string): AppWorker => {
    const worker_id = idOf(pool, name);
    const known = workers.get(worker_id);
    if (known) return known;
    const fresh = new AppWorker(app, { worker_id, pool, name: `${pool}/${name}` });
    workers.set(worker_id, fresh);
    return fresh;
  };
  const callOf = async (pool: Pool, name: string, one: { invocation_id: string; attempt: number }) => {
    const live = await workerOf(pool, name).callOf(one);
    if (!live)
      throw new Failure('NOT_FOUND', {
        detail: `${one.invocation_id}, attempt ${one.attempt}, is not a call of this worker.`,
        suggestion: 'It may have been canceled, timed out, or gone to another worker; stop it.',
      });
    return live;
  };

  const sweep = setInterval(() => {
    for (const [worker_id, worker] of workers)
      if (worker.idle_ms() > 2 * lease_ms) {
        workers.delete(worker_id);
        worker.close().catch((error: unknown) => log.warn({ err: error }, 'a worker of a pool could not be let go'));
      }
  }, lease_ms);
  sweep.unref();
  const unsubscribe = [
    relay.subscribe('cancel', (ids) => {
      const canceled = new Set(ids);
      for (const worker of workers.values()) worker.cancel(canceled).catch(() => {});
    }),
    relay.subscribe('refresh', (what) => {
      if (!what.includes('queues')) return;
      pausedRunners(store)
        .then((paused) => {
          for (const worker of workers.values()) worker.pause(paused);
        })
        .catch(() => {});
    }),
  ];
  stopping.addEventListener('abort', () => {
    for (const worker of workers.values()) worker.wake();
  });

  return {
    lease_ms,
    claim: (pool, claim, gone) => workerOf(pool, claim.worker_id).claim(claim, gone),
    beat: async (pool, beat, gone) => {
      const worker = workerOf(pool, beat.worker_id);
      const heard = await worker.beat(beat, gone);
      if (beat.state === 'stopped' && workers.delete(worker.worker_id)) await worker.close();
      return heard;
    },
    settle: async (pool, { worker_id, results }) => ({ outcomes: await workerOf(pool, worker_id).settle(results) }),
    log: async (pool, { worker_id, lines }) => {
      for (const { text, stream = 'stdout', ...one } of joined(lines)) {
        const live = await workerOf(pool, worker_id).callOf(one);
        if (!live) continue;
        const call = await live.call;
        call.log(stream, call.redact.text(text));
      }
    },
    keep: async (pool, { worker_id, name, ...one }, { media_type, content }) => {
      const live = await callOf(pool, worker_id, { invocation_id: one.invocation_id, attempt: Number(one.attempt) });
      const artifact = await (await live.call).keep({ name, media_type, content });
      live.artifacts.push(artifact);
      return artifact;
    },
    secret: async (pool, { worker_id, name, hosts = ['*'], ...one }) => {
      const live = await callOf(pool, worker_id, one);
      const call = await live.call;
      await noteSecretUse(store.db, idOf(pool, worker_id), one.invocation_id, name);
      return call.secret(name, hosts);
    },
    stop: async () => {
      clearInterval(sweep);
      for (const off of unsubscribe) off();
      await settler.idle();
      await Promise.all([...workers.values()].map((worker) => worker.close()));
      workers.clear();
      alive = false;
      policies.close();
    },
  };
}

/** Under which a worker stands in Postgres, and is sent calls: short, and no other pool's. */
const idOf = (pool: Pool, name: string): string =>
  `app_${createHash('sha256').update(`${pool}\n${name}`).digest('base64url').slice(0, 24)}`;

/** Lines of one call that come together are redacted together, so that a secret in two of them is found. */
function joined(lines: PoolLogs['lines']): PoolLogs['lines'] {
  const all: PoolLogs['lines'] = [];
  for (const line of lines) {
    const last = all.at(-1);
    const same =
      last?.invocation_id === line.invocation_id && last.attempt === line.attempt && last.stream === line.stream;
    if (same && last) last.text += line.text;
    else all.push({ ...line });
  }
  return all;
}
