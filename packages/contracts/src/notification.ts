import { z } from 'zod';
import { TERMINAL_STATUSES } from './status.js';

const INVOCATION_EVENTS = TERMINAL_STATUSES.map((status) => `invocation.${status}` as const);

/** The events that endpoints can receive. */
export const EVENT_TYPES = [
  ...INVOCATION_EVENTS,
  'run.completed',
  'run.failed',
  'run.canceled',
  'hold.created',
  'hold.decided',
  'hold.expiring',
  'quota.warning',
  'webhook.disabled',
] as const;
export const EventType = z.enum(EVENT_TYPES);
export type EventType = z.infer<typeof EventType>;

/** A type, a family (`hold.*`), or everything (`*`). */
export const EventFilter = z
  .string()
  .max(64)
  .refine(
    (filter) => EVENT_TYPES.some((type) => matchesEvent(filter, type)),
    `one of ${EVENT_TYPES.join(', ')}, a family such as hold.*, or *`,
  );

export const matchesEvent = (filter: string, type: string): boolean =>
  filter === '*' || filter === type || (filter.endsWith('.*') && type.startsWith(filter.slice(0, -1)));

/** The body of a delivery, in the format of Standard Webhooks. */
export const Notification = z.object({
  type: EventType,
  timestamp: z.iso.datetime(),
  data: z.record(z.string(), z.unknown()),
});
export type Notification = z.infer<typeof Notification>;
