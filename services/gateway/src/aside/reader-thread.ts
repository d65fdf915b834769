import { parentPort } from 'node:worker_threads';
import { readCommands } from '@capstan/catalog';
import { compilePlan, type PlanError, PlanFailure, placeErrors } from '@capstan/plan';
import { parsePolicy } from '@capstan/policy';
import { toAnswer } from './thread-answer.js';

/** A text to parse. A plan with `errors` has been parsed before; its errors get the lines and columns they belong to. */
export type Question =
  | { kind: 'plan'; text: string; errors?: readonly PlanError[] }
  | { kind: 'policy'; text: string }
  | { kind: 'commands'; text: string };

/** Returns the parsed document; throws a Failure with lines and columns if it is not valid. */
function read(question: Question): unknown {
  if (question.kind === 'policy') return parsePolicy(question.text);
  if (question.kind === 'commands') return readCommands(question.text);
  if (question.errors) throw new PlanFailure(placeErrors(question.text, question.errors));
  return compilePlan(question.text).document;
}

parentPort?.on('message', (question: Question) => parentPort?.postMessage(toAnswer(() => read(question))));
// All modules are loaded.
parentPort?.postMessage('ready');
