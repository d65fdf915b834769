import { z } from 'zod';
import { Result } from './result.js';
import { InvocationStatus } from './status.js';

export const LogStream = z.enum(['stdout', 'stderr']);
export type LogStream = z.infer<typeof LogStream>;

/** What `GET /v1/invocations/{id}/events` sends; `id` is what `Last-Event-ID` resumes from. */
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
