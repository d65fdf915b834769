import { createThreads } from '../../threads.js';
import { createTurns } from '../../turns.js';

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
const MAX_AT_ONCE = 4;

/** Tests run from the sources, which a thread cannot load. */
const THREAD = new URL(
  import.meta.url.endsWith('.ts') ? '../../../dist/api/html/convert-thread.js' : './convert-thread.js',
  import.meta.url,
);

/**
 * Converts pages in threads: a page that is made to take long or to nest deep costs its thread, and neither the worker its
 * heartbeat nor, as long as there are few of them, other pages their turn.
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
