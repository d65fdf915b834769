import type { Backbone } from '@capstan/backbone';
import {
  auditStarts,
  createKeeper,
  createLogWriter,
  createQuestionPorts,
  createSecretFinder,
  createSecretResolver,
  createSessionPorts,
  type Policies,
  type Receipts,
  type Running,
  type SecretSources,
  type Settler,
  type WorkerContext,
  type WorkerMetrics,
} from '@capstan/execution';
import type { Redactor } from '@capstan/redact';
import type { ArtifactStorage } from '@capstan/store/artifact';
import type { Settled } from '@capstan/store/claim';
import { useApproval } from '@capstan/store/hold';
import { readLastLines, readLeft } from '@capstan/store/pool';
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

/** What all pool workers at this gateway share. */
export type AppContext = {
  backbone: Backbone;
  lease_ms: number;
  receipts: Receipts;
  versions: PoolVersions;
  /** The pipeline's context, without the parts that differ for each worker. */
  pipeline: Omit<
    WorkerContext,
    'catalog' | 'runners' | 'running' | 'mayBegin' | 'holdsLease' | 'settle' | 'leaveToOthers'
  >;
  settle(running: Running, settlement: Parameters<WorkerContext['settle']>[1]): Promise<Settled>;
  /**
   * Learns which secrets calls were given and which files they kept at other gateways. Every request of a worker may go to another
   * gateway, so this comes before anything that a call has written is stored.
   */
  catchUp(lives: readonly LiveCall[], worker_id: string): Promise<void>;
  /** Learns how far the logs of calls have come at other gateways. */
  catchUpLogs(lives: readonly LiveCall[]): Promise<void>;
  /** Publishes how many calls each worker can take. Call it when that number changes. */
  offer(): void;
  stopping: AbortSignal;
};

type Shared = { receipts: Receipts; policies: Policies; settler: Settler; offers(): string[] };

export function createAppContext(backbone: Backbone, options: AppWorkersOptions, shared: Shared): AppContext {
  const { store, relay, log } = backbone;
  const { receipts, policies, settler, offers } = shared;
  const logs = createLogWriter(store, relay, (error) => log.warn({ err: error }, 'log lines were lost'));
  const findSecret = createSecretFinder(store, options.secrets);
  return {
    backbone,
    lease_ms: options.lease_ms,
    receipts,
    versions: options.versions,
    stopping: options.stopping,
    settle: (running, settlement) => settler.settle(running, settlement),
    offer: () => relay.publish('room', offers()),
    catchUp: async (lives, worker_id) => {
      if (lives.length === 0) return;
      const byId = new Map(lives.map((live) => [live.claimed.invocation_id, live]));
      for (const { invocation_id, secrets, artifacts } of await readLeft(
        store,
        worker_id,
        lives.map(({ claimed }) => claimed),
      )) {
        const live = byId.get(invocation_id);
        live?.addArtifacts(artifacts);
        for (const name of live ? secrets : []) {
          if (!live || live.secrets.has(name)) continue;
          const secret = await findSecret(live.claimed.tenant, name);
          if (secret) live.learn(name, secret.value);
        }
      }
    },
    catchUpLogs: async (lives) => {
      if (lives.length === 0) return;
      const byId = new Map(lives.map(({ claimed }) => [claimed.invocation_id, claimed]));
      for (const { invocation_id, last_seq } of await readLastLines(store, [...byId.values()])) {
        const claimed = byId.get(invocation_id);
        if (claimed) logs.goOnAfter(claimed, last_seq);
      }
    },
    pipeline: {
      rules: backbone.rules,
      policies,
      redactor: options.redactor,
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
}
