import { type HealthChecks, healthChecks } from './health.js';
import { type Invocations, invocations } from './invocation.js';
import { type Keys, keys } from './key.js';
import { type Policies, policies } from './policy.js';
import { type Queues, queues } from './queue.js';
import { type Runs, runs } from './run.js';
import { type Tools, tools } from './tool.js';
import { openTransport, type TransportOptions } from './transport.js';
import { type Workers, workers } from './worker.js';

export type ClientOptions = TransportOptions;

export type Client = Invocations &
  HealthChecks & {
    runs: Runs;
    queues: Queues;
    workers: Workers;
    keys: Keys;
    policies: Policies;
    tools: Tools;
    /** Ends its connections, also those with a request under way. */
    close(): Promise<void>;
  };

/** A client of one gateway. Nothing is connected before the first request. */
export const createClient = (options: ClientOptions): Client => {
  const transport = openTransport(options);
  return {
    ...invocations(transport),
    ...healthChecks(transport),
    runs: runs(transport),
    queues: queues(transport),
    workers: workers(transport),
    keys: keys(transport),
    policies: policies(transport),
    tools: tools(transport),
    close: () => transport.close(),
  };
};
