import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { orAborted } from '../../or-aborted.js';

export type HtmlFormat = 'markdown' | 'text';
export type ConvertJob = { html: string; format: HtmlFormat };
export type ConvertReply = { text: string } | { error: string };

export type Converter = {
  /** Null when it cannot be converted: too deep, too large, too slow. Rejects at once when `signal` aborts. */
  convert(html: string, format: HtmlFormat, signal: AbortSignal): Promise<string | null>;
  close(): Promise<void>;
};

/** Beyond this it is data rather than a page, and the time for it grows faster than its length. */
const MAX_HTML_CHARS = 4_000_000;
const CONVERT_MS = 5000;
const HEAP_MB = 512;

/** Tests run from the sources, which a thread cannot load. */
const THREAD = new URL(
  import.meta.url.endsWith('.ts') ? '../../../dist/api/html/convert-thread.js' : './convert-thread.js',
  import.meta.url,
);

/**
 * Converts pages in a thread of its own, one after another: a page that is made to take long or to nest deep costs that
 * thread, and not the worker its heartbeat.
 */
export function createConverter({ timeout_ms = CONVERT_MS } = {}): Converter {
  let thread: Worker | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const run = async (job: ConvertJob, signal: AbortSignal): Promise<string | null> => {
    if (signal.aborted) return null;
    thread ??= startThread(() => {
      thread = undefined;
    });
    const worker = thread;
    const late = AbortSignal.any([signal, AbortSignal.timeout(timeout_ms)]);
    worker.postMessage(job);
    try {
      const [reply]: ConvertReply[] = await once(worker, 'message', { signal: late });
      return reply && 'text' in reply ? reply.text : null;
    } catch {
      thread = undefined;
      await worker.terminate();
      return null;
    }
  };

  return {
    convert: async (html, format, signal) => {
      if (html.length > MAX_HTML_CHARS) return null;
      const mine = last.then(() => run({ html, format }, signal));
      last = mine;
      return orAborted(mine, signal);
    },
    close: async () => {
      await thread?.terminate();
    },
  };
}

function startThread(onExit: () => void): Worker {
  const thread = new Worker(THREAD, { resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } });
  // An error ends the thread, and whoever waits hears of it through `once`.
  thread.on('error', onExit).on('exit', onExit);
  thread.unref();
  return thread;
}
