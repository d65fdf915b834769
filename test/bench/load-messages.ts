import { z } from 'zod';
import { Sample } from './sample.js';

export const LoadOrder = z.object({
  port: z.number(),
  api_key: z.string(),
  in_flight: z.number(),
  count: z.number(),
  /** What is called: a sum inside of the worker by default, or `true` as a process in its sandbox. */
  calls: z.enum(['sum', 'process']).optional(),
});
export type LoadOrder = z.infer<typeof LoadOrder>;

export const LoadAnswer = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('answered'), sample: Sample }),
  z.object({ kind: z.literal('wrong'), wrong: z.number(), answered: z.number(), first: z.string() }),
]);
export type LoadAnswer = z.infer<typeof LoadAnswer>;
