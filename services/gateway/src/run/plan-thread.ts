import { parentPort, workerData } from 'node:worker_threads';
import { compilePlan, PlanFailure, placeErrors } from '@capstan/plan';
import type { PlanAnswer, PlanQuestion } from './read-aside.js';

/** The thread of `readAside`: finds what is wrong with a text, with its place, or answers the document that it is. */
function answer({ text, errors }: PlanQuestion): PlanAnswer {
  if (errors) return { ok: false, errors: placeErrors(text, errors) };
  try {
    return { ok: true, document: compilePlan(text).document };
  } catch (error) {
    if (!(error instanceof PlanFailure)) throw error;
    return { ok: false, errors: error.errors };
  }
}

parentPort?.postMessage(answer(workerData));
