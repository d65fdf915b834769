import type { Backbone } from '@capstan/backbone';
import type { Invocation, Quota } from '@capstan/contracts';
import {
  budgetsOf,
  countUsage,
  getByIdempotencyKeys,
  getExistingIds,
  groupCommit,
  insertInvocations,
  isUnavailable,
  leastRoom,
  type NewInvocation,
  type NewRun,
  queryIn,
  type RoomLeft,
  recordUses,
  type Store,
  storageFailure,
  takeQuotas,
  type Usage,
  warnNear,
} from '@capstan/store';
import { quotasThat } from '../quota/quotas-that.js';
import { traceSend } from './trace-send.js';

/** Committed, or known already under its idempotency key. */
export type Committed =
  | { kind: 'new'; created_at: string; room?: RoomLeft | undefined }
  | { kind: 'known'; invocation: Invocation };

export type Committer = {
  /** Shares its write with whatever else is submitted at the moment. */
  one(row: NewInvocation): Promise<Committed>;
  many(rows: NewInvocation[], run: NewRun): Promise<Committed[]>;
  /** How long the submission has waited that has waited longest for its write to begin. */
  waited_ms(): number;
  /** Resolves when all that was committed has been handed to the queue. */
  idle(): Promise<void>;
};

/** Measured with 50 callers: 1 ms leaves batches of 20 and costs a third more CPU than batches of 40; 3 ms wait longer than they save. */
const LINGER_MS = 2;

/** Commits invocations and hands the queued ones over. What fails after the commit is the coordinator's to finish. */
export function createCommitter({ store, relay, dispatcher, rules }: Backbone): Committer {
  const insert = async (into: Pick<Store, 'query'>, rows: NewInvocation[], run: NewRun | null) => {
    const { hand_over, signals, committed } = dispatcher.plan(rows);
    const { created_at, inserted, handed } = await insertInvocations(into, rows, { hand_over, signals, run });
    return { created_at, inserted, tellWorkers: () => committed(handed) };
  };

  /** Counted and inserted as one: what a quota denies is decided by what is committed. */
  const insertCounted = async (rows: NewInvocation[], run: NewRun | null, quotas: Quota[]) => {
    const before = rows.map(({ status, decision, idempotency_key }) => ({ status, decision, idempotency_key }));
    try {
      return await store.db.transaction().execute(async (db) => {
        const { uses, usages } = await takeQuotas(db, rows, quotas);
        const inserted = await insert({ query: queryIn(db) }, rows, run);
        await recordUses(db, uses);
        await warnNear(db, quotas, usages);
        return { ...inserted, usages };
      });
    } catch (error) {
      // What was denied by a transaction that never was may be tried again.
      for (const [index, row] of rows.entries()) Object.assign(row, before[index]);
      throw error;
    }
  };

  const write = async (rows: NewInvocation[], run: NewRun | null): Promise<Committed[]> => {
    const quotas = quotasThat('deny', rules, rows);
    const counted = quotas.length === 0 ? null : await insertCounted(rows, run, quotas);
    const { created_at, inserted, tellWorkers } = counted ?? (await insert(store, rows, run));
    tellWorkers();
    if (rows.some((row) => row.status === 'deferred' || row.expires_in_ms !== null)) relay.publish('due', ['now']);
    const committed: Committed = { kind: 'new', created_at };
    const answers = inserted === rows.length ? rows.map(() => committed) : await findKnown(rows, committed);
    // The answer to a bulk says nothing of what is left.
    const deferring = run ? [] : quotasThat('defer', rules, rows);
    if (!counted && deferring.length === 0) return answers;
    const usages = new Map([...(counted?.usages ?? []), ...(await usagesOf(deferring))]);
    return answers.map((answer, at) => withRoom(answer, rows[at], [...quotas, ...deferring], usages));
  };

  /** Told, and nothing is decided by it: what is committed is answered also when it cannot be counted. */
  const usagesOf = async (quotas: Quota[]): Promise<[string, Usage][]> => {
    const scopes = quotas.map(({ scope }) => scope);
    const counted = countUsage(store.db, scopes, { budgets: budgetsOf(quotas), waiting: false });
    return (await counted.catch(() => [])).map((usage) => [usage.scope, usage]);
  };

  /** Some idempotency keys were taken: their first invocations are the answer. */
  const findKnown = async (rows: NewInvocation[], committed: Committed): Promise<Committed[]> => {
    const fresh = await getExistingIds(
      store.db,
      rows.map((row) => row.invocation_id),
    );
    const known = new Map<string, Invocation>();
    for (const [tenant, keys] of keysByTenant(rows.filter((row) => !fresh.has(row.invocation_id))))
      for (const invocation of await getByIdempotencyKeys(store.db, tenant, keys))
        known.set(`${tenant} ${invocation.idempotency_key}`, invocation);
    return rows.map((row) => {
      const invocation = known.get(`${row.tenant} ${row.idempotency_key}`);
      return fresh.has(row.invocation_id) || !invocation ? committed : { kind: 'known', invocation };
    });
  };

  const one = groupCommit<NewInvocation, Committed>({
    write: (rows) => write(rows, null),
    patience_ms: (_, company) => (company ? LINGER_MS : 0),
    max_batch: 500,
    max_waiting: 20_000,
    isolate: (error) => !isUnavailable(error),
  });
  /** Apart, so that calls under a quota, which are counted first, keep no others waiting. */
  const counted = groupCommit<NewInvocation, Committed>({
    write: (rows) => write(rows, null),
    patience_ms: (_, company) => (company ? LINGER_MS : 0),
    max_batch: 500,
    max_waiting: 20_000,
    isolate: (error) => !isUnavailable(error),
  });
  return {
    one: (row) => traceSend([row], () => (row.quota_scopes ? counted(row) : one(row)).catch(refuse)),
    many: (rows, run) => traceSend(rows, () => write(rows, run).catch(refuse)),
    waited_ms: () => Math.max(one.waited_ms(), counted.waited_ms()),
    idle: async () => {
      await one.idle();
      await counted.idle();
      await dispatcher.idle();
    },
  };
}

/** What is left of the quotas that a call came under. */
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
