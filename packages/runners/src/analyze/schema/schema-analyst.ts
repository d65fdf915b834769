import type { JsonObject } from '@capstan/contracts';
import { toolError } from '../../builtin/builtin-tool.js';
import type { Call, RunOutcome, ToolFailure } from '../../runner.js';
import { createThreads } from '../../threads.js';
import type { SchemaRequest } from './analyze-schema.js';

export type SchemaAnalyst = {
  analyze(inputs: JsonObject, call: Pick<Call, 'limits' | 'signal'>): Promise<RunOutcome>;
  close(): Promise<void>;
};

/**
 * A thread that wants more in small steps is ended; one large step beyond the limit ends the whole process. In a heap as small
 * as this, lists do not grow large enough for such a step.
 */
const HEAP_MB = 128;

/** Tests run from the sources, which a thread cannot load. */
const THREAD = new URL(
  import.meta.url.endsWith('.ts') ? '../../../dist/analyze/schema/schema-thread.js' : './schema-thread.js',
  import.meta.url,
);

/** Runs `analyze.schema` in a thread: one that takes long costs its caller the time, and not the worker its heartbeat. */
export const createSchemaAnalyst = ({ thread = THREAD } = {}): SchemaAnalyst => {
  const threads = createThreads<SchemaRequest, RunOutcome>({ file: () => thread, heap_mb: HEAP_MB });
  return {
    analyze: async (inputs, { limits: { timeout_ms, max_output_bytes }, signal }) => {
      try {
        return await threads.ask({ inputs, max_bytes: max_output_bytes }, { signal, timeout_ms });
      } catch (error) {
        if (signal.aborted) return stopped('CANCELED', 'stopped');
        return whyStopped(error);
      }
    },
    close: () => threads.close(),
  };
};

const whyStopped = (error: unknown): ToolFailure => {
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return stopped('TOOL_TIMEOUT', 'the analysis took too long, and was stopped');
  if (error instanceof Error && Reflect.get(error, 'code') === 'ERR_WORKER_OUT_OF_MEMORY')
    return toolError('the analysis needs more memory than it may have, and was stopped');
  // What is thrown when the stack is not enough, there or on the way there.
  if (error instanceof RangeError) return toolError('the inputs are nested too deep');
  throw error;
};

const stopped = (kind: 'CANCELED' | 'TOOL_TIMEOUT', error: string): ToolFailure => ({
  success: false,
  error,
  kind,
  retryable: false,
});
