import type { Stats, StatsNow, StatsQuery } from '@capstan/contracts';
import type { Transport } from './transport.js';

export type Statistics = {
  /** Throughput, failures, queue wait and run time of what ended; an hour by runner type unless asked otherwise. */
  read(query?: Partial<StatsQuery>): Promise<Stats>;
  /** What waits and runs at this moment. */
  now(): Promise<StatsNow>;
};

export const statistics = (transport: Transport): Statistics => ({
  read: (query = {}) => transport.json('GET', '/v1/stats', { query }),
  now: () => transport.json('GET', '/v1/stats/now'),
});
