import type { Stats, StatsNow, StatsQuery } from '@capstan/contracts';
import type { Transport } from './transport.js';

export type Statistics = {
  /** Throughput, failures, queue wait and run time of ended calls; by default of the last hour by runner type. */
  read(query?: Partial<StatsQuery>): Promise<Stats>;
  /** The calls that wait and run now. */
  now(): Promise<StatsNow>;
};

export const statistics = (transport: Transport): Statistics => ({
  read: (query = {}) => transport.json('GET', '/v1/stats', { query }),
  now: () => transport.json('GET', '/v1/stats/now'),
});
