import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@capstan/client';
import { type Invocation, isTerminal } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import type { End, Operated } from './history.js';

const LOOK_MS = 500;
const LIVE = ['held', 'deferred', 'queued', 'running'] as const;

/** Waits until nothing is left to do, or for `within_ms` at most. The checker then names the calls that are stuck. */
export async function untilQuiet(client: Client, within_ms: number): Promise<void> {
  const deadline = performance.now() + within_ms;
  while (performance.now() < deadline) {
    const { items } = await client.list({ status: [...LIVE], limit: 1 }).page();
    if (items.length === 0) return;
    await delay(LOOK_MS);
  }
}

/** Every invocation as the API shows it, and its recorded attempts as operations. */
export async function observeEnds(client: Client): Promise<{ ends: End[]; recorded: Operated[] }> {
  const invocations: Invocation[] = [];
  for await (const invocation of client.list({ limit: 1000 })) invocations.push(invocation);
  const open = new Set(invocations.flatMap(({ run_id, status }) => (isTerminal(status) ? [] : [run_id])));
  const runs = new Map<string, boolean>();
  const recorded: Operated[] = [];
  for (const invocation of invocations) {
    const { run_id } = invocation;
    // A run cannot be verified before it ends, and a stuck call is reported anyway.
    if (!runs.has(run_id)) runs.set(run_id, open.has(run_id) || (await isVerified(client, run_id)));
    recorded.push(...(await recordOf(client, invocation)));
  }
  return { ends: invocations.map((invocation) => endOf(invocation, runs.get(invocation.run_id) ?? false)), recorded };
}

function endOf(invocation: Invocation, run_verifies: boolean): End {
  const { labels, invocation_id, status, attempt, finished_at, inputs, input_hash, result } = invocation;
  const key = labels.key ?? invocation_id;
  const expected = typeof inputs.a === 'number' ? `${inputs.a + 1}` : key;
  return {
    ...{ key, invocation_id, status, attempt },
    finished_at: finished_at === null ? null : Date.parse(finished_at),
    result_fits: status !== 'succeeded' || JSON.stringify(result?.payload ?? null).includes(expected),
    verified: run_verifies && hashJson(inputs) === input_hash,
  };
}

/** A lone call is a run, too. A run that claims not to be over although all its calls have ended does not verify. */
async function isVerified(client: Client, run_id: string): Promise<boolean> {
  return client.records.verify(run_id).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Skips calls that succeeded at the first attempt, whose record adds nothing. */
async function recordOf(client: Client, { invocation_id, labels, status, attempt }: Invocation): Promise<Operated[]> {
  if (status === 'succeeded' && attempt <= 1) return [];
  const { attempts } = await client.get(invocation_id);
  const key = labels.key ?? invocation_id;
  return attempts.flatMap(({ started_at, ended_at, outcome, worker_id, error }): Operated[] => {
    const [began, at] = [Date.parse(started_at), Date.parse(ended_at ?? started_at)];
    const detail = [outcome, error].filter((text) => text !== null).join(': ');
    const op = outcome === 'lost' ? 'rescue' : 'settle';
    return [
      { op: 'claim', key, began, at: began, outcome: 'ok', detail: worker_id },
      { op, key, began, at, outcome: outcome === 'succeeded' ? 'ok' : 'failed', detail },
    ];
  });
}
