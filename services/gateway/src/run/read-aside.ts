import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Failure, type FailureName, type JsonObject } from '@capstan/contracts';

/** A plan as text, and the tools among those that it names that there are not, with what may have been meant. */
export type PlanQuestion = { text: string; unknown: ReadonlyMap<string, { similar: string[] }> };
export type PlanAnswer =
  | { ok: true; document: JsonObject; tool_ids: string[] }
  | { ok: false; kind: FailureName; detail: string; suggestion: string; context: Record<string, unknown> };

/** One after the other: many threads at once would leave as little to everybody else as none. */
let last: Promise<unknown> = Promise.resolve();

/** Reads a plan in a thread of its own, so that a long one keeps nobody waiting. */
export function readAside(question: PlanQuestion): Promise<Extract<PlanAnswer, { ok: true }>> {
  const answered = last.then(() => ask(question));
  last = answered.catch(() => undefined);
  return answered;
}

async function ask(question: PlanQuestion): Promise<Extract<PlanAnswer, { ok: true }>> {
  const thread = new Worker(new URL('./plan-thread.js', import.meta.url), { workerData: question });
  try {
    const [answer]: PlanAnswer[] = await once(thread, 'message');
    if (!answer) throw new Error('the thread of a plan answered nothing');
    if (answer.ok) return answer;
    const { detail, suggestion, context } = answer;
    throw new Failure(answer.kind, { detail, suggestion, context });
  } finally {
    await thread.terminate();
  }
}
