import { setTimeout as delay } from 'node:timers/promises';
import { type Client, isTerminal } from '@capstan/client';
import type { Invocation, InvocationStatus, Waiting } from '@capstan/contracts';
import type { Sent, SentBatch } from './send-batch.js';

/** One line of the results, which are printed in the order of the input. */
export type Outcome = Pick<Sent, 'index' | 'status' | 'invocation_id' | 'problem'> &
  Partial<Pick<Invocation, 'tool_id' | 'result'>>;

type Awaiting = {
  client: Pick<Client, 'get' | 'list' | 'runs' | 'wait'>;
  signal: AbortSignal;
  /** When to give up waiting. */
  deadline: number;
  onProgress(done: number): Promise<void>;
  /** Called with the reason why a waiting call has not started, whenever the reason changes. */
  onWaiting(why: Waiting): Promise<void>;
};

/** Held calls wait for a person, so they are not waited for. */
const UNDER_WAY: InvocationStatus[] = ['deferred', 'queued', 'running'];
const PAGE = 1000;
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1_000;
/** After this long, the reason why a call has not started is fetched. */
const PATIENCE_MS = 3_000;
/** Queues are roughly in order, so only the first few unfinished batches make progress. */
const WATCHED_BATCHES = 4;

/** Waits for one batch after another and yields its outcomes in input order. Only one batch is in memory. */
export async function* awaitRuns(batches: readonly SentBatch[], waiting: Awaiting): AsyncGenerator<Outcome[]> {
  let finished = 0;
  for (const [at, batch] of batches.entries()) {
    const watched = batches.slice(at, at + WATCHED_BATCHES).flatMap(({ run_ids }) => run_ids);
    const onProgress = (done: number): Promise<void> => waiting.onProgress(finished + done);
    for (const run_id of batch.run_ids) await awaitRun(run_id, watched, { ...waiting, onProgress });
    yield await collect(batch, waiting);
    finished += batch.sent.length;
    await waiting.onProgress(finished);
  }
}

const awaitRun = async (run_id: string, watched: readonly string[], waiting: Awaiting): Promise<void> => {
  const { client, signal, deadline, onProgress, onWaiting } = waiting;
  const started = performance.now();
  let said: string | null = null;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(MAX_PAUSE_MS, pause * 2)) {
    const { items } = await client.list({ run_id, status: UNDER_WAY, limit: 1 }).page();
    if (items.length === 0 || performance.now() >= deadline) return;
    const counts = await Promise.all(watched.map((each) => countDone(each, client)));
    await onProgress(counts.reduce((sum, count) => sum + count, 0));
    const [one] = items;
    if (one && one.status !== 'running' && performance.now() - started > PATIENCE_MS) {
      const { waiting: why } = await client.get(one.invocation_id);
      if (why && why.detail !== said) await onWaiting(why);
      said = why?.detail ?? said;
    }
    await delay(Math.max(0, Math.min(pause, deadline - performance.now())), undefined, { signal });
  }
};

const countDone = async (run_id: string, client: Awaiting['client']): Promise<number> => {
  const run = await client.runs.get(run_id);
  return run.completed_steps + run.denied_steps + run.failed_steps;
};

const collect = async (batch: SentBatch, waiting: Awaiting): Promise<Outcome[]> => {
  const found = new Map<string, Invocation>();
  for (const run_id of batch.run_ids) {
    for await (const each of waiting.client.list({ run_id, limit: PAGE })) found.set(each.invocation_id, each);
  }
  const outcomes: Outcome[] = [];
  for (const sent of batch.sent) {
    // An invalid item may name the invocation that it conflicts with.
    if (sent.invocation_id === undefined || sent.status === 'invalid') outcomes.push(toOutcome(sent, null));
    else
      outcomes.push(toOutcome(sent, found.get(sent.invocation_id) ?? (await awaitOther(sent.invocation_id, waiting))));
  }
  return outcomes;
};

/** With an idempotency key, the invocation may belong to an earlier run. */
const awaitOther = (invocation_id: string, { client, signal, deadline }: Awaiting): Promise<Invocation> =>
  client.wait(invocation_id, {
    signal,
    until: (status) => isTerminal(status) || status === 'held',
    timeout_s: Number.isFinite(deadline) ? Math.max(0, deadline - performance.now()) / 1000 : undefined,
  });

const toOutcome = ({ index, invocation_id, status, problem }: Sent, invocation: Invocation | null): Outcome => ({
  index,
  ...(invocation_id === undefined ? {} : { invocation_id }),
  ...(invocation === null
    ? { status }
    : { tool_id: invocation.tool_id, status: invocation.status, result: invocation.result }),
  ...(problem === undefined ? {} : { problem }),
});
