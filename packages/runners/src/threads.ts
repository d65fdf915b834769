import { Worker } from 'node:worker_threads';

/** Runs synchronous work on separate threads, because only terminating its thread can stop it. */
export type Threads<Request, Answer> = {
  /** Rejects with the reason if it is stopped. */
  ask(request: Request, options: { signal: AbortSignal; timeout_ms: number }): Promise<Answer>;
  close(): Promise<void>;
};

export type ThreadsOptions = { file(): string | URL; heap_mb: number };

const MAX_IDLE = 2;

/** Threads are reused for later requests. A thread whose work has to be stopped is terminated. */
export const createThreads = <Request, Answer>(options: ThreadsOptions): Threads<Request, Answer> => {
  const idle: Worker[] = [];
  const ask = (thread: Worker, request: Request, signal: AbortSignal): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const settle = (how: () => void) => {
        thread.off('message', onMessage).off('error', onError).off('exit', onExit);
        signal.removeEventListener('abort', stop);
        how();
      };
      const onMessage = (answer: Answer) => settle(() => resolve(answer));
      const onError = (error: Error) => settle(() => reject(error));
      const onExit = () => settle(() => reject(signal.aborted ? signal.reason : new Error('the thread ended')));
      // Interrupts even a synchronous computation.
      const stop = () => void thread.terminate();
      thread.on('message', onMessage).on('error', onError).on('exit', onExit);
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
      thread.postMessage(request);
    });
  return {
    ask: async (request, { signal, timeout_ms }) => {
      const thread = idle.pop() ?? startThread(options);
      thread.ref();
      try {
        const late = AbortSignal.timeout(Math.ceil(timeout_ms));
        const answer = await ask(thread, request, AbortSignal.any([signal, late]));
        thread.unref();
        if (idle.length < MAX_IDLE) idle.push(thread);
        else await thread.terminate();
        return answer;
      } catch (error) {
        await thread.terminate();
        throw error;
      }
    },
    close: async () => {
      await Promise.all(idle.splice(0).map((thread) => thread.terminate()));
    },
  };
};

/** Without the environment, which contains secrets that it does not need. */
const startThread = ({ file, heap_mb }: ThreadsOptions): Worker => {
  const thread = new Worker(file(), { env: {}, resourceLimits: { maxOldGenerationSizeMb: heap_mb } });
  thread.unref();
  return thread;
};
