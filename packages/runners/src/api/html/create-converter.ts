import { createThreads } from '../../threads.js';
import { createTurns } from '../../turns.js';

export type HtmlFormat = 'markdown' | 'text';
export type ConvertJob = { html: string; format: HtmlFormat };
export type ConvertReply = { text: string } | { error: string };

export type Converter = {
  /** Null if the page is too deep, too large or too slow to convert. Rejects at once when `signal` aborts. */
  convert(html: string, format: HtmlFormat, signal: AbortSignal): Promise<string | null>;
  close(): Promise<void>;
};

/** Larger documents are data rather than pages, and the time to convert grows faster than the length. */
const MAX_HTML_CHARS = 4_000_000;
const CONVERT_MS = 5000;
const HEAP_MB = 512;
const MAX_AT_ONCE = 4;

/** The tests run from source files, which a thread cannot load. */
const THREAD = new URL(
  import.meta.url.endsWith('.ts') ? '../../../dist/api/html/convert-thread.js' : './convert-thread.js',
  import.meta.url,
);

/**
 * Converts pages in threads. A hostile page that is slow or deeply nested only blocks its thread: the worker keeps its heartbeat, and other pages are
 * converted as long as there are not many such pages.
 */
export function createConverter({ timeout_ms = CONVERT_MS } = {}): Converter {
  const threads = createThreads<ConvertJob, ConvertReply>({ file: () => THREAD, heap_mb: HEAP_MB });
  const turns = createTurns(MAX_AT_ONCE);
  return {
    convert: async (html, format, signal) => {
      if (html.length > MAX_HTML_CHARS) return null;
      try {
        const reply = await turns(signal, () => threads.ask({ html, format }, { signal, timeout_ms }));
        return 'text' in reply ? reply.text : null;
      } catch {
        signal.throwIfAborted();
        return null;
      }
    },
    close: () => threads.close(),
  };
}
