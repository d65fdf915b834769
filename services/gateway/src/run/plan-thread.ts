import { parentPort, workerData } from 'node:worker_threads';
import { Failure } from '@capstan/contracts';
import { compilePlan } from '@capstan/plan';
import type { PlanAnswer, PlanQuestion } from './read-aside.js';

/** The thread of `readAside`: finds what is wrong with a text, with its place, or answers the document that it is. */
function answer({ text, unknown }: PlanQuestion): PlanAnswer {
  try {
    const { document, steps } = compilePlan(text, (tool_id) => unknown.get(tool_id));
    return { ok: true, document, tool_ids: [...new Set(steps.map(({ tool_id }) => tool_id))] };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { kind, message, suggestion, context } = error;
    return { ok: false, kind, detail: message, suggestion, context };
  }
}

parentPort?.postMessage(answer(workerData));
