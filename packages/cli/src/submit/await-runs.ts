import { setTimeout as delay } from 'node:timers/promises';
import { type Client, isTerminal } from '@capstan/client';
import type { Invocation, InvocationStatus } from '@capstan/contracts';
import type { Sent, SentBatch } from './send-batch.js';

/** A line of the results: in the order of the input, whatever the order in which they ended. */
export type Outcome = Pick<Sent, 'index' | 'status' | 'invocation_id' | 'problem'> &
  Partial<Pick<Invocation, 'tool_id' | 'result'>>;

type Waiting = {
  client: Pick<Client, 'list' | 'runs' | 'wait'>;
  signal: AbortSignal;
  /** When to give up waiting. */
  deadline: number;
  onProgress(done: number): Promise<void>;
};

/** Held ones wait for a person and are not waited for. */
const UNDER_WAY: InvocationStatus[] = ['deferred', 'queued', 'running'];
const PAGE = 1000;
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1_000;
/** Queues go roughly in order, so the counts of the first few unfinished batches are what moves. */
const WATCHED_BATCHES = 4;

/** Waits for one batch after the other and gives its outcomes in the order of the input; never more than one in memory. */
export async function* awaitRuns(batches: readonly SentBatch[], waiting: Waiting): AsyncGenerator<Outcome[]> {
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

const awaitRun = async (run_id: string, watched: readonly string[], waiting: Waiting): Promise<void> => {
  const { client, signal, deadline, onProgress } = waiting;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(MAX_PAUSE_MS, pause * 2)) {
    const { items } = await client.list({ run_id, status: UNDER_WAY, limit: 1 }).page();
    if (items.length === 0 || performance.now() >= deadline) return;
    const counts = await Promise.all(watched.map((each) => countDone(each, client)));
    await onProgress(counts.reduce((sum, count) => sum + count, 0));
    await delay(Math.max(0, Math.min(pause, deadline - performance.now())), undefined, { signal });
  }
};

const countDone = async (run_id: string, client: Waiting['client']): Promise<number> => {
  const run = await client.runs.get(run_id);
  return run.completed_steps + run.denied_steps + run.failed_steps;
};

const collect = async (batch: SentBatch, waiting: Waiting): Promise<Outcome[]> => {
  const found = new Map<string, Invocation>();
  for (const run_id of batch.run_ids) {
    for await (const each of waiting.client.list({ run_id, limit: PAGE })) found.set(each.invocation_id, each);
  }
  const outcomes: Outcome[] = [];
  for (const sent of batch.sent) {
    // An invalid one can name the invocation that it is in conflict with.
    if (sent.invocation_id === undefined || sent.status === 'invalid') outcomes.push(toOutcome(sent, null));
    else
      outcomes.push(toOutcome(sent, found.get(sent.invocation_id) ?? (await awaitOther(sent.invocation_id, waiting))));
  }
  return outcomes;
};

/** An idempotency key can answer an invocation of an earlier run. */
const awaitOther = (invocation_id: string, { client, signal, deadline }: Waiting): Promise<Invocation> =>
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
