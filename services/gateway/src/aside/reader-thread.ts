import { parentPort } from 'node:worker_threads';
import { readCommands } from '@capstan/catalog';
import { compilePlan, type PlanError, PlanFailure, placeErrors } from '@capstan/plan';
import { parsePolicy } from '@capstan/policy';
import { toAnswer } from './thread-answer.js';

/** A text to be read. Of a plan also, with `errors`, what is wrong with its document, to be told where that stands. */
export type Question =
  | { kind: 'plan'; text: string; errors?: readonly PlanError[] }
  | { kind: 'policy'; text: string }
  | { kind: 'commands'; text: string };

/** Gives the document that a text is, or throws what is wrong with it, with its place. */
function read(question: Question): unknown {
  if (question.kind === 'policy') return parsePolicy(question.text);
  if (question.kind === 'commands') return readCommands(question.text);
  if (question.errors) throw new PlanFailure(placeErrors(question.text, question.errors));
  return compilePlan(question.text).document;
}

parentPort?.on('message', (question: Question) => parentPort?.postMessage(toAnswer(() => read(question))));
// Everything is loaded.
parentPort?.postMessage('ready');
