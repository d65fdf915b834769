import type { Backbone } from '@capstan/backbone';
import type { Delivery, Invocation } from '@capstan/contracts';
import {
  getByIdempotencyKeys,
  getExistingIds,
  groupCommit,
  insertInvocations,
  isUnavailable,
  type NewInvocation,
  type NewRun,
  storageFailure,
  unboxDeliveries,
} from '@capstan/store';
import { nanoid } from 'nanoid';

/** Committed, or known already under its idempotency key. */
export type Committed = { kind: 'new'; created_at: string } | { kind: 'known'; invocation: Invocation };

export type Committer = {
  /** Shares its write with whatever else is submitted at the moment. */
  one(row: NewInvocation): Promise<Committed>;
  many(rows: NewInvocation[], run: NewRun): Promise<Committed[]>;
  /** Resolves when all that was committed has been handed to the queue. */
  idle(): Promise<void>;
};

const UNBOX_MS = 500;

/** Commits invocations and hands the queued ones over. What fails after the commit is the outbox' to finish. */
export function createCommitter({ store, queue, relay, log }: Backbone): Committer {
  const delivered: string[] = [];
  let unboxing: NodeJS.Timeout | null = null;
  const handingOver = new Set<Promise<void>>();

  const handOver = async (deliveries: Delivery[], outbox_id: string | null) => {
    await queue.enqueue(deliveries);
    if (outbox_id === null) return;
    // Dropped with the next commit, or soon when none comes.
    delivered.push(outbox_id);
    unboxing ??= setTimeout(() => {
      unboxing = null;
      unboxDeliveries(store.db, delivered.splice(0)).catch(() => {});
    }, UNBOX_MS);
  };

  const write = async (rows: NewInvocation[], run: NewRun | null): Promise<Committed[]> => {
    const deliveries = rows.filter((row) => row.status === 'queued').map(toDelivery);
    const outbox = queue.needs_outbox && deliveries.length > 0 ? { outbox_id: nanoid(), deliveries } : null;
    const signals = queue.riding(deliveries);
    const { created_at, inserted } = await insertInvocations(store, rows, {
      outbox,
      delivered: delivered.splice(0),
      run,
      ...(signals && { signals }),
    });
    if (deliveries.length > 0 && !signals) {
      const handing = handOver(deliveries, outbox?.outbox_id ?? null)
        .catch((error: unknown) => log.warn({ err: error }, 'the queue cannot be reached; the outbox keeps the work'))
        .finally(() => handingOver.delete(handing));
      handingOver.add(handing);
    }
    if (rows.some((row) => row.status === 'deferred' || row.expires_in_ms !== null)) relay.publish('due', ['now']);
    const committed: Committed = { kind: 'new', created_at };
    return inserted === rows.length ? rows.map(() => committed) : findKnown(rows, committed);
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
    linger_ms: 1,
    max_batch: 500,
    max_waiting: 20_000,
    isolate: (error) => !isUnavailable(error),
  });
  return {
    one: (row) => one(row).catch(refuse),
    many: (rows, run) => write(rows, run).catch(refuse),
    idle: async () => {
      await one.idle();
      await Promise.all(handingOver);
      if (unboxing) clearTimeout(unboxing);
      await unboxDeliveries(store.db, delivered.splice(0)).catch(() => {});
    },
  };
}

const toDelivery = ({ invocation_id, runner, priority }: NewInvocation): Delivery => ({
  invocation_id,
  runner,
  attempt: 0,
  priority,
});

function keysByTenant(rows: NewInvocation[]): Map<string, string[]> {
  const keys = new Map<string, string[]>();
  for (const { tenant, idempotency_key } of rows)
    if (idempotency_key !== null) keys.set(tenant, [...(keys.get(tenant) ?? []), idempotency_key]);
  return keys;
}

const refuse = (error: unknown): never => {
  throw error instanceof Error && error.name === 'Failure' ? error : storageFailure(error);
};
