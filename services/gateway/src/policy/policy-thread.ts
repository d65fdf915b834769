import { parentPort, workerData } from 'node:worker_threads';
import { parsePolicy } from '@capstan/policy';
import { toAnswer } from '../aside/thread-answer.js';

/** A policy as text. */
export type PolicyQuestion = { text: string };

const read = ({ text }: PolicyQuestion) => parsePolicy(text);

parentPort?.postMessage(toAnswer(() => read(workerData)));
