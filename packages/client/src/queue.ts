import type { QueueInfo, QueueName, QueueScale } from '@capstan/contracts';
import { listFrom } from './list-from.js';
import type { Listing } from './listing.js';
import type { Transport } from './transport.js';

export type Queues = {
  list(): Listing<QueueInfo>;
  /** Workers finish their running calls and start no more from this queue. */
  pause(runner: QueueName): Promise<QueueInfo>;
  resume(runner: QueueName): Promise<QueueInfo>;
  /** The load of a queue, for an autoscaler. */
  scale(runner: QueueName): Promise<QueueScale>;
};

export const queues = (transport: Transport): Queues => ({
  list: () => listFrom(transport, '/v1/queues', {}),
  pause: (runner) => transport.json('POST', `/v1/queues/${encodeURIComponent(runner)}/pause`),
  resume: (runner) => transport.json('POST', `/v1/queues/${encodeURIComponent(runner)}/resume`),
  scale: (runner) => transport.json('GET', `/v1/queues/${encodeURIComponent(runner)}/scale`),
});
