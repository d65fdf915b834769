import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { JsonObject } from '@capstan/contracts';
import { type PlanError, PlanFailure } from '@capstan/plan';

/** A plan as text, and with `errors` what was found to be wrong with its document, to be told where that stands. */
export type PlanQuestion = { text: string; errors?: readonly PlanError[] };
export type PlanAnswer = { ok: true; document: JsonObject } | { ok: false; errors: readonly PlanError[] };

/** The few megabytes that a text may have can be written so that they become gigabytes. */
const MAX_MEMORY_MB = 1024;

/** One after the other: many threads at once would leave as little to everybody else as none. */
let last: Promise<unknown> = Promise.resolve();

/** Reads a plan in a thread of its own, so that a long one keeps nobody waiting. Throws what is wrong with it. */
export function readAside(question: PlanQuestion): Promise<JsonObject> {
  const answered = last.then(() => ask(question));
  last = answered.catch(() => undefined);
  return answered;
}

async function ask(question: PlanQuestion): Promise<JsonObject> {
  const thread = new Worker(new URL('./plan-thread.js', import.meta.url), {
    workerData: question,
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
  });
  try {
    const [answer]: PlanAnswer[] = await once(thread, 'message').catch(giveUp);
    if (!answer) throw new Error('the thread of a plan answered nothing');
    if (answer.ok) return answer.document;
    throw new PlanFailure(answer.errors);
  } finally {
    await thread.terminate();
  }
}

function giveUp(error: unknown): never {
  if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY')
    throw new PlanFailure([{ field: '', message: 'takes too much memory to be read as YAML; send it as JSON' }]);
  throw error;
}
