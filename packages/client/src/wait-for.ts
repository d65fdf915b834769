import type { InvocationDetail, InvocationEvent, InvocationStatus } from '@capstan/contracts';
import type { EventsOptions } from './follow-events.js';
import { isTerminal } from './is-terminal.js';

export type WaitOptions = {
  /** Without it, the wait ends only with the invocation. */
  timeout_s?: number | undefined;
  signal?: AbortSignal | undefined;
  /** What to wait for; the default is a terminal status. */
  until?: ((status: InvocationStatus) => boolean) | undefined;
  /** Called for every status on the way. */
  on_status?: ((status: InvocationStatus) => void) | undefined;
};

type Source = {
  get(invocation_id: string, options?: { signal?: AbortSignal | undefined }): Promise<InvocationDetail>;
  events(invocation_id: string, options?: EventsOptions): AsyncIterable<InvocationEvent>;
};

/** Returns the invocation once it has ended or the time is up. */
export const waitFor = async (
  source: Source,
  invocation_id: string,
  { timeout_s, signal, until = isTerminal, on_status }: WaitOptions = {},
): Promise<InvocationDetail> => {
  const deadline = timeout_s === undefined ? undefined : AbortSignal.timeout(toDelay(timeout_s));
  const both = AbortSignal.any([signal, deadline].filter((each) => each !== undefined));
  try {
    for await (const event of source.events(invocation_id, { signal: both })) {
      if (event.event === 'status') on_status?.(event.data.status);
      const reached = event.event === 'result' || (event.event === 'status' && until(event.data.status));
      if (!reached) continue;
      // Events cover the whole history, so the end of a redriven call may be an earlier one.
      const invocation = await source.get(invocation_id, { signal: both });
      if (until(invocation.status)) return invocation;
    }
  } catch (error) {
    if (signal?.aborted || !deadline?.aborted) throw error;
  }
  return source.get(invocation_id, { signal });
};

const MAX_TIMER_MS = 2 ** 31 - 1;
const toDelay = (seconds: number): number => Math.min(MAX_TIMER_MS, Math.max(0, Math.ceil(seconds * 1000)));
