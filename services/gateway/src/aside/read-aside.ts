import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Failure, type FailureName } from '@capstan/contracts';
import { fromAnswer, type ThreadAnswer } from './thread-answer.js';

/** A text that takes longer than a moment to be read is read in a thread; starting one takes longer than to read less. */
export const isLong = (text: string): boolean => text.length > 50_000;

/** The few megabytes that a text may have can be written so that they become gigabytes. */
const MAX_MEMORY_MB = 1024;

/** One after the other: many threads at once would leave as little to everybody else as none. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Asks a thread that has nothing else to do, so that a long text keeps nobody waiting. Throws what is wrong with it;
 * `refusal` is the kind of failure when it needs too much memory.
 */
export function readAside<Document>(thread: URL, question: object, refusal: FailureName): Promise<Document> {
  const answered = last.then(() => ask<Document>(thread, question, refusal));
  last = answered.catch(() => undefined);
  return answered;
}

async function ask<Document>(file: URL, question: object, refusal: FailureName): Promise<Document> {
  const thread = new Worker(file, {
    workerData: question,
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
  });
  try {
    const [answer]: ThreadAnswer<Document>[] = await once(thread, 'message').catch(giveUp(refusal));
    if (!answer) throw new Error('the thread of a document answered nothing');
    return fromAnswer(answer);
  } finally {
    await thread.terminate();
  }
}

const giveUp =
  (refusal: FailureName) =>
  (error: unknown): never => {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY')) throw error;
    const message = 'takes too much memory to be read as YAML; send it as JSON';
    throw new Failure(refusal, { detail: `the document: ${message}`, context: { errors: [{ field: '', message }] } });
  };
