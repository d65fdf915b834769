import { setTimeout as delay } from 'node:timers/promises';
import { getEachMessage, sendMessage } from 'execa';
import { percentile } from '../report/statistics.js';
import { bodyOfSum, callAndCheck, callOwnAndCheck, headOfCalls, runAndCheck } from './call-and-check.js';
import { type HttpCaller, openHttpCaller } from './http-caller.js';
import { type LoadAnswer, LoadOrder, type Overload } from './load-generator.js';

const REFUSED_MS = 100;
const CALLS = { sum: callAndCheck, process: runAndCheck, own: callOwnAndCheck };

// Runs as a separate process: keeps a number of calls in flight until all are answered, each on its own connection.

for await (const message of getEachMessage()) {
  await sendMessage(await carryOut(LoadOrder.parse(message)));
}

async function carryOut(order: LoadOrder): Promise<LoadAnswer> {
  const head = headOfCalls(order);
  const callers = await Promise.all(Array.from({ length: order.in_flight }, () => openHttpCaller({ ...order, head })));
  try {
    if (order.overload_ms !== undefined)
      return { kind: 'overloaded', overload: await overload(callers, order.overload_ms) };
    return await callThemAll(callers, order.count, CALLS[order.calls ?? 'sum']);
  } finally {
    for (const caller of callers) caller.close();
  }
}

async function callThemAll(
  callers: readonly HttpCaller[],
  count: number,
  call: typeof callAndCheck,
): Promise<LoadAnswer> {
  const latencies = new Float64Array(count);
  const wrong: string[] = [];
  let next = 0;
  let answered = 0;

  const keepCalling = async (caller: HttpCaller) => {
    // After a wrong answer nothing new is sent: what is in flight tells how many are wrong, and a stuck system is not waited for.
    for (let i = next++; i < count && wrong.length === 0; i = next++) {
      const called = performance.now();
      try {
        await call(caller, i);
      } catch (error) {
        wrong.push(error instanceof Error ? error.message : String(error));
      }
      latencies[i] = performance.now() - called;
      answered += 1;
    }
  };

  const started = performance.now();
  await Promise.all(callers.map(keepCalling));
  const elapsed_ms = performance.now() - started;
  const [first] = wrong;
  if (first !== undefined) return { kind: 'wrong', wrong: wrong.length, answered, first };
  return {
    kind: 'answered',
    sample: { count, elapsed_ms, p50_ms: percentile(latencies, 0.5), p99_ms: percentile(latencies, 0.99) },
  };
}

/** Each client calls again as soon as it has an answer. A refused client waits for a moment, but not for as long as it is asked to. */
async function overload(callers: readonly HttpCaller[], for_ms: number): Promise<Overload> {
  const found = { accepted: 0, refused: 0, refused_without_retry_after: 0, broken: 0 };
  const latencies: number[] = [];
  const until = performance.now() + for_ms;
  const keepCalling = async (caller: HttpCaller) => {
    while (performance.now() < until) {
      const called = performance.now();
      const answer = await caller.post(bodyOfSum(1)).catch(() => undefined);
      if (answer === undefined) {
        found.broken += 1;
        return;
      }
      if (answer.status === 200 || answer.status === 202) {
        found.accepted += 1;
        latencies.push(performance.now() - called);
      } else if (answer.status === 429 || answer.status === 503) {
        found.refused += 1;
        if (answer.retry_after === undefined) found.refused_without_retry_after += 1;
        await delay(REFUSED_MS);
      } else found.broken += 1;
    }
  };
  await Promise.all(callers.map(keepCalling));
  return { ...found, p99_ms: latencies.length === 0 ? 0 : percentile(latencies, 0.99) };
}
