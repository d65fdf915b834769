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
 * A thread that exceeds this limit in small steps is terminated, but one large allocation beyond it ends the whole process. In a heap this small,
 * lists cannot grow large enough for such an allocation.
 */
const HEAP_MB = 128;

/** The tests run from source files, which a thread cannot load. */
const THREAD = new URL(
  import.meta.url.endsWith('.ts') ? '../../../dist/analyze/schema/schema-thread.js' : './schema-thread.js',
  import.meta.url,
);

/** Runs `analyze.schema` in a thread, so that a slow analysis delays its caller and not the worker's heartbeat. */
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
  // Thrown on stack overflow, in the thread or while the value is cloned.
  if (error instanceof RangeError) return toolError('the inputs are nested too deep');
  throw error;
};

const stopped = (kind: 'CANCELED' | 'TOOL_TIMEOUT', error: string): ToolFailure => ({
  success: false,
  error,
  kind,
  retryable: false,
});
