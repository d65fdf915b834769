import { type Backbone, isTracing, traceSend } from '@capstan/backbone';
import type { Invocation, Quota } from '@capstan/contracts';
import {
  type Db,
  type GroupCommit,
  groupCommit,
  isUnavailable,
  queryIn,
  type Store,
  storageFailure,
} from '@capstan/store';
import {
  getByIdempotencyKeys,
  getExistingIds,
  insertInvocations,
  type NewInvocation,
  type NewRun,
} from '@capstan/store/invocation';
import {
  budgetsOf,
  countUsage,
  leastRoom,
  type RoomLeft,
  recordUses,
  takeQuotas,
  type Usage,
  warnNear,
} from '@capstan/store/quota';
import { quotasThat } from '../quota/quotas-that.js';

/** Committed now, or known already by its idempotency key. */
export type Committed =
  | { kind: 'new'; created_at: string; room?: RoomLeft | undefined }
  | { kind: 'known'; invocation: Invocation };

/**
 * How long a submission waits for others at most. It waits no longer once as many are gathered as calls are still on their way:
 * then one half of the callers submits while the other half's calls run and end. With 50 callers in step, a third of the CPU
 * time was idle; in two halves it is a fifth, and the rate was a tenth higher, although a batch is half as large.
 */
export const lingering = (company: boolean, gathered: number, awaited: number): number =>
  company && gathered < awaited - gathered ? LINGER_MS : 0;
const LINGER_MS = 2;

type Behind = Pick<Backbone, 'store' | 'relay' | 'rules' | 'dispatcher'>;

/** Commits invocations and hands over the queued ones. Work that fails after the commit is finished by the coordinator. */
export class Committer {
  readonly #backbone: Behind;
  readonly #shared: GroupCommit<NewInvocation, Committed>;
  /** Separate, so that calls under a quota, whose usage has to be counted first, do not delay the others. */
  readonly #counted: GroupCommit<NewInvocation, Committed>;

  /** `awaited`: how many calls requests in this process wait for, those that are not committed yet included. */
  constructor(backbone: Behind, awaited: () => number) {
    this.#backbone = backbone;
    const together = () =>
      groupCommit<NewInvocation, Committed>({
        write: (rows) => this.#write(rows, null),
        patience_ms: (_, company, gathered) => lingering(company, gathered, awaited()),
        max_batch: 500,
        max_waiting: 20_000,
        isolate: (error) => !isUnavailable(error),
      });
    this.#shared = together();
    this.#counted = together();
  }

  /** Shares its write with other submissions of the same moment. */
  one(row: NewInvocation): Promise<Committed> {
    const commit = row.quota_scopes ? this.#counted : this.#shared;
    const write = () => commit(row).catch(refuse);
    return isTracing() ? traceSend([row], write) : write();
  }

  many(rows: NewInvocation[], run: NewRun): Promise<Committed[]> {
    const write = () => this.#write(rows, run).catch(refuse);
    return isTracing() ? traceSend(rows, write) : write();
  }

  /** How long the oldest submission has waited for its write to begin. */
  waited_ms(): number {
    return Math.max(this.#shared.waited_ms(), this.#counted.waited_ms());
  }

  /** Resolves when all committed calls have been handed over. */
  async idle(): Promise<void> {
    await this.#shared.idle();
    await this.#counted.idle();
    await this.#backbone.dispatcher.idle();
  }

  async #write(rows: NewInvocation[], run: NewRun | null): Promise<Committed[]> {
    const { store, relay, rules } = this.#backbone;
    const quotas = quotasThat('deny', rules, rows);
    const counted = quotas.length === 0 ? null : await this.#insertCounted(rows, run, quotas);
    const { created_at, inserted, tellWorkers } = counted ?? (await this.#insert(store, rows, run));
    tellWorkers();
    if (rows.some((row) => row.status === 'deferred' || row.expires_in_ms !== null)) relay.publish('due', ['now']);
    const committed: Committed = { kind: 'new', created_at };
    const answers = inserted === rows.length ? rows.map(() => committed) : await findKnown(store.db, rows, committed);
    // The response to a bulk does not include the remaining quota.
    const deferring = run ? [] : quotasThat('defer', rules, rows);
    if (!counted && deferring.length === 0) return answers;
    const usages = new Map([...(counted?.usages ?? []), ...(await usagesOf(store.db, deferring))]);
    return answers.map((answer, at) => withRoom(answer, rows[at], [...quotas, ...deferring], usages));
  }

  async #insert(into: Pick<Store, 'query'>, rows: NewInvocation[], run: NewRun | null) {
    const { hand_over, signals, committed } = this.#backbone.dispatcher.plan(rows);
    const { created_at, inserted, handed } = await insertInvocations(into, rows, { hand_over, signals, run });
    return { created_at, inserted, tellWorkers: () => committed(handed) };
  }

  /** Counts and inserts in one transaction, so that denials by quota are based on committed calls. */
  async #insertCounted(rows: NewInvocation[], run: NewRun | null, quotas: Quota[]) {
    const before = rows.map(({ status, decision, idempotency_key }) => ({ status, decision, idempotency_key }));
    try {
      return await this.#backbone.store.db.transaction().execute(async (db) => {
        const { uses, usages } = await takeQuotas(db, rows, quotas);
        const inserted = await this.#insert({ query: queryIn(db) }, rows, run);
        await recordUses(db, uses);
        await warnNear(db, quotas, usages);
        return { ...inserted, usages };
      });
    } catch (error) {
      // The transaction was rolled back, so denials in it do not stand, and the rows can be tried again.
      for (const [index, row] of rows.entries()) Object.assign(row, before[index]);
      throw error;
    }
  }
}

/** For information only: a call that was committed is answered even if its usage cannot be read. */
async function usagesOf(db: Db, quotas: Quota[]): Promise<[string, Usage][]> {
  const scopes = quotas.map(({ scope }) => scope);
  const counted = countUsage(db, scopes, { budgets: budgetsOf(quotas), waiting: false });
  return (await counted.catch(() => [])).map((usage) => [usage.scope, usage]);
}

/** Some idempotency keys were taken: returns their first invocations. */
async function findKnown(db: Db, rows: NewInvocation[], committed: Committed): Promise<Committed[]> {
  const fresh = await getExistingIds(
    db,
    rows.map((row) => row.invocation_id),
  );
  const known = new Map<string, Invocation>();
  for (const [tenant, keys] of keysByTenant(rows.filter((row) => !fresh.has(row.invocation_id))))
    for (const invocation of await getByIdempotencyKeys(db, tenant, keys))
      known.set(`${tenant} ${invocation.idempotency_key}`, invocation);
  return rows.map((row) => {
    const invocation = known.get(`${row.tenant} ${row.idempotency_key}`);
    return fresh.has(row.invocation_id) || !invocation ? committed : { kind: 'known', invocation };
  });
}

/** Adds the remaining room of the quotas that apply to a call. */
const withRoom = (
  answer: Committed,
  row: NewInvocation | undefined,
  quotas: Quota[],
  usages: Map<string, Usage>,
): Committed =>
  answer.kind === 'new' && row?.quota_scopes
    ? {
        ...answer,
        room: leastRoom(
          quotas.filter(({ scope }) => row.quota_scopes?.includes(scope)),
          usages,
        ),
      }
    : answer;

function keysByTenant(rows: NewInvocation[]): Map<string, string[]> {
  const keys = new Map<string, string[]>();
  for (const { tenant, idempotency_key } of rows)
    if (idempotency_key !== null) keys.set(tenant, [...(keys.get(tenant) ?? []), idempotency_key]);
  return keys;
}

const refuse = (error: unknown): never => {
  throw error instanceof Error && error.name === 'Failure' ? error : storageFailure(error);
};
