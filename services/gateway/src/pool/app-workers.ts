import { createHash } from 'node:crypto';
import type { Backbone } from '@capstan/backbone';
import type {
  AppCall,
  Artifact,
  LogStream,
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
import { createPolicies, createSettler, type Policies, Receipts, type Settler } from '@capstan/execution';
import { offerOf } from '@capstan/queue';
import type { Store } from '@capstan/store';
import { noteSecretUse } from '@capstan/store/pool';
import { pausedRunners } from '@capstan/store/queue';
import { type AppContext, type AppWorkersOptions, createAppContext } from './app-context.js';
import { AppWorker } from './app-worker.js';
import type { CallId, LiveCall } from './live-call.js';

type File = { media_type: string; content: AsyncIterable<Uint8Array> | Uint8Array };

/** The pool workers that this gateway acts for. Everything it holds about them can be rebuilt from Postgres by another gateway. */
export class AppWorkers {
  readonly lease_ms: number;
  readonly #store: Store;
  readonly #log: Backbone['log'];
  readonly #workers = new Map<string, AppWorker>();
  readonly #app: AppContext;
  readonly #policies: Policies;
  readonly #settler: Settler;
  readonly #sweep: NodeJS.Timeout;
  readonly #unsubscribe: (() => void)[];
  #alive = true;

  static async open(backbone: Backbone, options: AppWorkersOptions): Promise<AppWorkers> {
    return new AppWorkers(backbone, options, await createPolicies(backbone.store, backbone.relay));
  }

  private constructor(backbone: Backbone, options: AppWorkersOptions, policies: Policies) {
    this.#store = backbone.store;
    this.#log = backbone.log;
    this.lease_ms = options.lease_ms;
    this.#policies = policies;
    const receipts = new Receipts(2 * options.lease_ms);
    const offers = () => this.#offers();
    this.#settler = createSettler(backbone, { receipts, offers, isAlive: () => this.#alive, running: () => 0 });
    this.#app = createAppContext(backbone, options, { receipts, policies, offers, settler: this.#settler });
    this.#sweep = setInterval(() => this.#closeIdle(), options.lease_ms).unref();
    this.#unsubscribe = this.#listen(backbone);
    options.stopping.addEventListener('abort', () => {
      for (const worker of this.#workers.values()) worker.wake();
    });
  }

  claim(pool: Pool, claim: PoolClaim, gone: AbortSignal): Promise<AppCall[]> {
    return this.#workerOf(pool, claim.worker_id).claim(claim, gone);
  }

  async beat(pool: Pool, beat: PoolBeat, gone: AbortSignal): Promise<PoolBeaten> {
    const worker = this.#workerOf(pool, beat.worker_id);
    const answer = await worker.beat(beat, gone);
    if (beat.state === 'stopped' && this.#workers.delete(worker.worker_id)) await worker.close();
    return answer;
  }

  async settle(pool: Pool, { worker_id, results }: PoolSettlement): Promise<PoolSettled> {
    return { outcomes: await this.#workerOf(pool, worker_id).settle(results) };
  }

  /** Resolves when the lines are stored: the next ones may be sent to another gateway. */
  async log(pool: Pool, { worker_id, lines }: PoolLogs): Promise<void> {
    const worker = this.#workerOf(pool, worker_id);
    const chunks: { live: LiveCall; stream: LogStream; text: string }[] = [];
    for (const { text, stream = 'stdout', ...one } of joined(lines)) {
      const live = await worker.callOf(one);
      if (live) chunks.push({ live, stream, text });
    }
    const lives = [...new Set(chunks.map(({ live }) => live))];
    await Promise.all([this.#app.catchUp(lives, worker.worker_id), this.#app.catchUpLogs(lives)]);
    for (const { live, stream, text } of chunks) {
      const call = await live.call;
      live.log(call, stream, call.redact.text(text));
    }
    await Promise.all(lives.map(({ claimed }) => this.#app.pipeline.logs.written(claimed)));
  }

  async keep(pool: Pool, { worker_id, name, ...one }: PoolArtifact, file: File): Promise<Artifact> {
    const id = { invocation_id: one.invocation_id, attempt: Number(one.attempt) };
    const live = await this.#callOf(pool, worker_id, id);
    const artifact = await (await live.call).keep({ name, ...file });
    live.artifacts.push(artifact);
    return artifact;
  }

  async secret(pool: Pool, { worker_id, name, hosts = ['*'], ...one }: PoolSecret): Promise<string> {
    const live = await this.#callOf(pool, worker_id, one);
    const call = await live.call;
    await noteSecretUse(this.#store.db, idOf(pool, worker_id), one.invocation_id, name);
    const value = await call.secret(name, hosts);
    live.secrets.add(name);
    return value;
  }

  /** Call it once no request is in progress. */
  async stop(): Promise<void> {
    clearInterval(this.#sweep);
    for (const off of this.#unsubscribe) off();
    await this.#settler.idle();
    await Promise.all([...this.#workers.values()].map((worker) => worker.close()));
    this.#workers.clear();
    this.#alive = false;
    this.#policies.close();
  }

  #listen({ store, relay }: Backbone): (() => void)[] {
    const cancel = (ids: string[]) => {
      const canceled = new Set(ids);
      for (const worker of this.#workers.values()) worker.cancel(canceled).catch(() => {});
    };
    const refresh = async (what: string[]) => {
      if (!what.includes('queues')) return;
      const paused = await pausedRunners(store);
      for (const worker of this.#workers.values()) worker.pause(paused);
    };
    return [
      relay.subscribe('cancel', cancel),
      relay.subscribe('refresh', (what) => void refresh(what).catch(() => {})),
    ];
  }

  #closeIdle(): void {
    for (const [worker_id, worker] of this.#workers)
      if (worker.idle_ms() > 2 * this.lease_ms) {
        this.#workers.delete(worker_id);
        worker.close().catch((error: unknown) => this.#log.warn({ err: error }, 'a pool worker could not be closed'));
      }
  }

  #offers(): string[] {
    return [...this.#workers.values()].map((one) => offerOf(one.worker_id, one.runner, one.offered()));
  }

  #workerOf(pool: Pool, name: string): AppWorker {
    const worker_id = idOf(pool, name);
    const known = this.#workers.get(worker_id);
    if (known) return known;
    const fresh = new AppWorker(this.#app, { worker_id, pool, name: `${pool}/${name}` });
    this.#workers.set(worker_id, fresh);
    return fresh;
  }

  async #callOf(pool: Pool, name: string, one: CallId): Promise<LiveCall> {
    const live = await this.#workerOf(pool, name).callOf(one);
    if (!live)
      throw new Failure('NOT_FOUND', {
        detail: `${one.invocation_id}, attempt ${one.attempt}, is not a call of this worker.`,
        suggestion: 'It may have been canceled, timed out, or given to another worker. Stop it.',
      });
    return live;
  }
}

/** The worker's id in Postgres and in the queue: short, and unique across pools. */
const idOf = (pool: Pool, name: string): string =>
  `app_${createHash('sha256').update(`${pool}\n${name}`).digest('base64url').slice(0, 24)}`;

/** Joins consecutive chunks of one call before redaction, so that a secret split across two of them is found. */
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
