import type {
  BulkAnswer,
  Invocation,
  InvocationCounts,
  InvocationDetail,
  InvocationEvent,
  InvocationFilter,
  InvocationStatus,
  Resolution,
  SubmissionInput,
  Validation,
} from '@capstan/contracts';
import { type EventsOptions, followEvents } from './follow-events.js';
import { isTerminal } from './is-terminal.js';
import { listFrom } from './list-from.js';
import type { Listing, PageOptions } from './listing.js';
import type { Transport } from './transport.js';
import { type WaitOptions, waitFor } from './wait-for.js';

/** A filter with one or several statuses and labels. */
export type InvocationQuery = Omit<InvocationFilter, 'status' | 'label'> & {
  status?: InvocationStatus | InvocationStatus[] | undefined;
  label?: string | string[] | undefined;
};

type Signal = { signal?: AbortSignal | undefined };

export type SubmitOptions = Signal & { wait_s?: number | undefined; until?: WaitOptions['until'] };

export type Invocations = {
  /** Returns once the call is accepted. With `wait_s`, returns once it has ended or the time is up. */
  submit(submission: SubmissionInput, options?: SubmitOptions): Promise<Invocation>;
  /** Checks inputs, policy and quotas, and returns the outcome that the call would have. Nothing runs or is recorded. */
  validate(submission: SubmissionInput, options?: Signal): Promise<Validation>;
  submitBulk(submissions: readonly unknown[], options?: Signal): Promise<BulkAnswer>;
  get(invocation_id: string, options?: Signal): Promise<InvocationDetail>;
  list(filter?: InvocationQuery & PageOptions): Listing<Invocation>;
  /** Counts matching invocations by status, runner type, tool and actor. */
  counts(filter?: InvocationQuery): Promise<InvocationCounts>;
  events(invocation_id: string, options?: EventsOptions): AsyncIterable<InvocationEvent>;
  wait(invocation_id: string, options?: WaitOptions): Promise<InvocationDetail>;
  cancel(invocation_id: string): Promise<Invocation>;
  redrive(invocation_id: string): Promise<Invocation>;
  resolve(invocation_id: string, resolution: Resolution): Promise<Invocation>;
  cancelMany(filter: InvocationQuery): Promise<{ count: number }>;
  redriveMany(filter: InvocationQuery): Promise<{ count: number }>;
};

/** Proxies often cut a silent response after 30 s, so longer waits use an event stream, which has heartbeats. */
const MAX_HELD_ANSWER_S = 20;

export const invocations = (transport: Transport): Invocations => {
  const at = (invocation_id: string, action = ''): string =>
    `/v1/invocations/${encodeURIComponent(invocation_id)}${action}`;

  const self: Invocations = {
    async submit(submission, { wait_s = 0, until = isTerminal, signal } = {}) {
      const started = performance.now();
      const held_s = Math.ceil(Math.min(wait_s, MAX_HELD_ANSWER_S));
      const invocation = await transport.json<Invocation>('POST', '/v1/invocations', {
        body: submission,
        headers: held_s > 0 ? { prefer: `wait=${held_s}` } : {},
        wait_s: held_s,
        signal,
      });
      const left_s = wait_s - (performance.now() - started) / 1000;
      if (left_s <= 0 || until(invocation.status)) return invocation;
      return self.wait(invocation.invocation_id, { timeout_s: left_s, until, signal });
    },
    validate: (submission, { signal } = {}) =>
      transport.json('POST', '/v1/invocations', { query: { validate: true }, body: submission, signal }),
    submitBulk: (submissions, { signal } = {}) =>
      transport.json('POST', '/v1/invocations/bulk', { body: { invocations: submissions }, signal }),
    get: (invocation_id, { signal } = {}) => transport.json('GET', at(invocation_id), { signal }),
    list: (filter = {}) => listFrom(transport, '/v1/invocations', filter),
    events: (invocation_id, options) => followEvents(transport, invocation_id, options),
    wait: (invocation_id, options) => waitFor(self, invocation_id, options),
    cancel: (invocation_id) => transport.json('POST', at(invocation_id, '/cancel')),
    redrive: (invocation_id) => transport.json('POST', at(invocation_id, '/redrive')),
    resolve: (invocation_id, resolution) => transport.json('POST', at(invocation_id, '/resolve'), { body: resolution }),
    counts: (filter = {}) => transport.json('GET', '/v1/invocations/counts', { query: { ...filter } }),
    cancelMany: (filter) => transport.json('POST', '/v1/invocations/cancel', { body: filter }),
    redriveMany: (filter) => transport.json('POST', '/v1/invocations/redrive', { body: filter }),
  };
  return self;
};
