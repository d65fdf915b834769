import { parentPort, workerData } from 'node:worker_threads';
import type { JsonObject } from '@capstan/contracts';
import { compilePlan, type PlanError, PlanFailure, placeErrors } from '@capstan/plan';
import { toAnswer } from '../aside/thread-answer.js';

/** A plan as text, and with `errors` what was found to be wrong with its document, to be told where that stands. */
export type PlanQuestion = { text: string; errors?: readonly PlanError[] };

/** Finds what is wrong with a text, with its place, or gives the document that it is. */
function read({ text, errors }: PlanQuestion): JsonObject {
  if (errors) throw new PlanFailure(placeErrors(text, errors));
  return compilePlan(text).document;
}

parentPort?.postMessage(toAnswer(() => read(workerData)));
