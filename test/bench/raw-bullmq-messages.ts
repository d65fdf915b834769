import { z } from 'zod';

export const ProducerOrder = z.object({
  kind: z.enum(['add', 'add_and_wait']),
  count: z.number(),
  in_flight: z.number(),
});
export type ProducerOrder = z.infer<typeof ProducerOrder>;

export const Added = z.object({ first_add_at: z.number() });
export type Added = z.infer<typeof Added>;

export const WorkerOrder = z.object({ expect: z.number() });
export type WorkerOrder = z.infer<typeof WorkerOrder>;

export const Expecting = z.object({ expecting: z.number() });
export type Expecting = z.infer<typeof Expecting>;

export const AllCompleted = z.object({ last_completed_at: z.number() });
export type AllCompleted = z.infer<typeof AllCompleted>;

export const RAW_QUEUE = 'raw-bullmq';
