import type {
  DryRun,
  Run,
  RunAccepted,
  RunDetail,
  RunEvent,
  RunFilter,
  RunKind,
  RunStatus,
  RunSubmissionInput,
  Step,
} from '@capstan/contracts';
import type { StreamMessage } from './event-stream/parse-event-stream.js';
import { listFrom } from './list-from.js';
import type { Listing, PageOptions } from './listing.js';
import { type EventsOptions, resumeStream } from './resume-stream.js';
import type { Transport } from './transport.js';

type Signal = { signal?: AbortSignal | undefined };
export type RunQuery = Omit<RunFilter, 'status' | 'kind'> & {
  kind?: RunKind | RunKind[] | undefined;
  status?: RunStatus | RunStatus[] | undefined;
};

export type Runs = {
  /** Submits a plan. Plan and policy are objects or YAML text. */
  submit(submission: RunSubmissionInput, options?: Signal): Promise<RunAccepted>;
  /** Returns the decision about each step without running anything. */
  dryRun(submission: RunSubmissionInput, options?: Signal): Promise<DryRun>;
  get(run_id: string, options?: Signal): Promise<RunDetail>;
  list(options?: RunQuery & PageOptions): Listing<Run>;
  steps(run_id: string, options?: PageOptions): Listing<Step>;
  events(run_id: string, options?: EventsOptions): AsyncIterable<RunEvent>;
  /** Returns the run once it has ended or the time is up. */
  wait(run_id: string, options?: Signal & { timeout_s?: number | undefined }): Promise<RunDetail>;
  pause(run_id: string): Promise<Run>;
  resume(run_id: string): Promise<Run>;
  cancel(run_id: string): Promise<Run>;
};

/** The compiler checks this against the list in contracts. Importing that list would load zod. */
const OVER: Record<RunStatus, boolean> = {
  pending: false,
  running: false,
  paused: false,
  completed: true,
  failed: true,
  canceled: true,
};
const MAX_TIMER_MS = 2 ** 31 - 1;

export const runs = (transport: Transport): Runs => {
  const at = (run_id: string, action = ''): string => `/v1/runs/${encodeURIComponent(run_id)}${action}`;
  const self: Runs = {
    submit: (submission, { signal } = {}) => transport.json('POST', '/v1/runs', { body: submission, signal }),
    dryRun: (submission, { signal } = {}) =>
      transport.json('POST', '/v1/runs', { body: submission, query: { dry_run: true }, signal }),
    get: (run_id, { signal } = {}) => transport.json('GET', at(run_id), { signal }),
    list: (options = {}) => listFrom(transport, '/v1/runs', { ...options }),
    steps: (run_id, options = {}) => listFrom(transport, at(run_id, '/steps'), { ...options }),
    events: (run_id, options = {}) =>
      resumeStream<RunEvent>(
        transport,
        {
          path: at(run_id),
          read: toRunEvent,
          endsWith: (event) => (event.event === 'run' ? OVER[event.data.status] : null),
          isOver: async () => OVER[(await self.get(run_id, { signal: options.signal })).status],
        },
        options,
      ),
    wait: async (run_id, { signal, timeout_s } = {}) => {
      const deadline =
        timeout_s === undefined ? undefined : AbortSignal.timeout(Math.min(MAX_TIMER_MS, Math.ceil(timeout_s * 1000)));
      const both = AbortSignal.any([signal, deadline].filter((each) => each !== undefined));
      try {
        for await (const event of self.events(run_id, { signal: both }))
          if (event.event === 'run' && OVER[event.data.status]) break;
      } catch (error) {
        if (signal?.aborted || !deadline?.aborted) throw error;
      }
      return self.get(run_id, { signal });
    },
    pause: (run_id) => transport.json('POST', at(run_id, '/pause')),
    resume: (run_id) => transport.json('POST', at(run_id, '/resume')),
    cancel: (run_id) => transport.json('POST', at(run_id, '/cancel')),
  };
  return self;
};

/** Not validated again; see `fromGateway`. */
const toRunEvent = ({ id, event, data }: StreamMessage): RunEvent | null =>
  event === 'step' || event === 'run' ? { id, event, data: JSON.parse(data) } : null;
