import type { NewSchedule, Schedule, ScheduleChange, ScheduleDetail } from '@capstan/contracts';
import { listFrom } from './list-from.js';
import type { Listing, PageOptions } from './listing.js';
import type { Transport } from './transport.js';

export type Schedules = {
  create(schedule: NewSchedule): Promise<ScheduleDetail>;
  get(schedule_id: string): Promise<ScheduleDetail>;
  list(options?: PageOptions): Listing<Schedule>;
  change(schedule_id: string, change: ScheduleChange): Promise<ScheduleDetail>;
  /** Removes a schedule. Runs that it started continue. */
  remove(schedule_id: string): Promise<void>;
};

export const schedules = (transport: Transport): Schedules => {
  const at = (schedule_id: string): string => `/v1/schedules/${encodeURIComponent(schedule_id)}`;
  return {
    create: (schedule) => transport.json('POST', '/v1/schedules', { body: schedule }),
    get: (schedule_id) => transport.json('GET', at(schedule_id)),
    list: (options = {}) => listFrom(transport, '/v1/schedules', { ...options }),
    change: (schedule_id, change) => transport.json('PATCH', at(schedule_id), { body: change }),
    remove: (schedule_id) => transport.json('DELETE', at(schedule_id)),
  };
};
