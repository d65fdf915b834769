import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Failure, type FailureName } from '@capstan/contracts';
import type { Question } from './reader-thread.js';
import { fromAnswer, type ThreadAnswer } from './thread-answer.js';
import { createTurns } from './turns.js';

export type { Question } from './reader-thread.js';

/**
 * Parses texts in threads, so that no text blocks the event loop. Each tenant has one text parsed at a time. A thread that takes
 * too long or too much memory is terminated.
 */
export type DocumentReaders = {
  /** Resolves with the document; rejects with a Failure that says what is wrong with the text. */
  read<Document>(tenant: string, question: Question): Promise<Document>;
  close(): Promise<void>;
};

export type ReaderOptions = { threads?: number; max_ms?: number | undefined };

/** YAML of this length can be crafted to take a tenth of a second to parse. A running thread answers in a millisecond. */
export const isLong = (text: string): boolean => text.length > 2000;

const THREAD = new URL('./reader-thread.js', import.meta.url);
const THREADS = 2;
/** Enough for the longest plan that is accepted, as YAML, on a busy machine. */
const MAX_MS = 10_000;
/** A few megabytes of YAML can be crafted to expand to gigabytes. */
const MAX_MEMORY_MB = 1024;
const MOST_WAITING = 32;
/** Threads that are idle for this long are terminated. */
const IDLE_MS = 30_000;

const REFUSALS: Record<Question['kind'], FailureName> = {
  plan: 'PLAN_INVALID',
  policy: 'POLICY_INVALID',
  commands: 'INVALID_REQUEST',
};

export function createDocumentReaders({ threads = THREADS, max_ms = MAX_MS }: ReaderOptions = {}): DocumentReaders {
  const turns = createTurns(threads, MOST_WAITING);
  const idle = new Map<Worker, NodeJS.Timeout>();

  const take = async (): Promise<Worker> => {
    const [kept] = idle;
    if (kept === undefined) return startThread();
    clearTimeout(kept[1]);
    idle.delete(kept[0]);
    return kept[0];
  };
  const end = async (thread: Worker): Promise<void> => {
    clearTimeout(idle.get(thread));
    idle.delete(thread);
    await thread.terminate();
  };
  const keep = (thread: Worker): void => {
    idle.set(thread, setTimeout(() => void end(thread), IDLE_MS).unref());
  };

  return {
    read: <Document>(tenant: string, question: Question) =>
      turns.take(tenant, async () => {
        const thread = await take();
        const answer = await ask<Document>(thread, question, max_ms).catch(async (error: unknown) => {
          await end(thread);
          throw toFailure(error, REFUSALS[question.kind], max_ms);
        });
        keep(thread);
        return fromAnswer(answer);
      }),
    close: async () => {
      await Promise.all([...idle.keys()].map(end));
    },
  };
}

/** Resolves once the thread has loaded its modules, so that loading does not count towards a document's time limit. */
async function startThread(): Promise<Worker> {
  const thread = new Worker(THREAD, { resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB } });
  // An idle thread must not keep the process running.
  thread.unref();
  // An idle thread that fails has no caller to tell. The next document starts another.
  thread.on('error', () => {});
  await once(thread, 'message');
  return thread;
}

async function ask<Document>(thread: Worker, question: Question, max_ms: number): Promise<ThreadAnswer<Document>> {
  thread.postMessage(question);
  const [answer]: ThreadAnswer<Document>[] = await once(thread, 'message', { signal: AbortSignal.timeout(max_ms) });
  if (!answer) throw new Error('the document thread returned no answer');
  return answer;
}

function toFailure(error: unknown, kind: FailureName, max_ms: number): unknown {
  const message = whyEnded(error, max_ms);
  if (message === null) return error;
  return new Failure(kind, { detail: `the document: ${message}`, context: { errors: [{ field: '', message }] } });
}

function whyEnded(error: unknown, max_ms: number): string | null {
  if (!(error instanceof Error)) return null;
  if (error.name === 'AbortError') return `takes longer than ${max_ms} ms to be read; send less, or send it as JSON`;
  if ('code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY')
    return 'takes too much memory to be read as YAML; send it as JSON';
  return null;
}
