import { z } from 'zod';
import { Result } from './result.js';
import { InvocationStatus } from './status.js';

export const LogStream = z.enum(['stdout', 'stderr']);
export type LogStream = z.infer<typeof LogStream>;

/** The events of `GET /v1/invocations/{id}/events`. `Last-Event-ID` resumes after an `id`. */
export const InvocationEvent = z.discriminatedUnion('event', [
  z.object({
    id: z.string(),
    event: z.literal('status'),
    data: z.object({ status: InvocationStatus, attempt: z.int(), at: z.iso.datetime() }),
  }),
  z.object({
    id: z.string(),
    event: z.literal('log'),
    data: z.object({ stream: LogStream, text: z.string(), seq: z.int() }),
  }),
  z.object({ id: z.string(), event: z.literal('result'), data: Result }),
]);
export type InvocationEvent = z.infer<typeof InvocationEvent>;

export const TenantEventType = z.enum(['invocation', 'run', 'hold', 'queue', 'worker', 'policy', 'tool']);
export type TenantEventType = z.infer<typeof TenantEventType>;

/**
 * The events of `GET /v1/events`: they say that something changed, without its new state. After a reconnect the last few may repeat.
 */
export const TenantEvent = z.object({
  type: TenantEventType,
  id: z.string().nullable().describe('Null if too much changed at once for single events: read the list again'),
  status: z.string().nullable().describe('The new status, if the change includes it'),
  at: z.iso.datetime(),
});
export type TenantEvent = z.infer<typeof TenantEvent>;

const TYPES = TenantEventType.options.join(', ');
export const TenantEventsQuery = z.strictObject({
  types: z
    .string()
    .transform((text) => text.split(',').map((type) => type.trim()))
    .pipe(z.array(TenantEventType, { error: `any of ${TYPES}, with commas between` }))
    .optional()
    .describe(`Only these types, separated by commas: ${TYPES}`),
});
