import { parentPort, workerData } from 'node:worker_threads';
import { readCommands } from '@capstan/catalog';
import { toAnswer } from '../aside/thread-answer.js';

/** The commands of an extension as text. */
export type CommandsQuestion = { text: string };

const read = ({ text }: CommandsQuestion) => readCommands(text);

parentPort?.postMessage(toAnswer(() => read(workerData)));
