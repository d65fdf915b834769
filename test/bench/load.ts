import { getEachMessage, sendMessage } from 'execa';
import { callAndCheck, headOfCalls, runAndCheck } from './call-and-check.js';
import { type HttpCaller, openHttpCaller } from './http-caller.js';
import { type LoadAnswer, LoadOrder } from './load-messages.js';
import { percentile } from './statistics.js';

// Own process: keeps a number of calls in flight until all are answered, each on a connection of its own.

for await (const message of getEachMessage()) {
  await sendMessage(await carryOut(LoadOrder.parse(message)));
}

async function carryOut(order: LoadOrder): Promise<LoadAnswer> {
  const head = headOfCalls(order);
  const callers = await Promise.all(Array.from({ length: order.in_flight }, () => openHttpCaller({ ...order, head })));
  try {
    return await callThemAll(callers, order.count, order.calls === 'process' ? runAndCheck : callAndCheck);
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
