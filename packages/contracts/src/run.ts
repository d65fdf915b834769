import { z } from 'zod';

export const RunStatus = z.enum(['pending', 'running', 'paused', 'completed', 'failed', 'canceled']);
export type RunStatus = z.infer<typeof RunStatus>;

export const Run = z.object({
  run_id: z.string(),
  kind: z.enum(['lone', 'bulk']),
  status: RunStatus,
  actor: z.string(),
  total_steps: z.int(),
  completed_steps: z.int(),
  denied_steps: z.int(),
  failed_steps: z.int(),
  created_at: z.iso.datetime(),
  finished_at: z.iso.datetime().nullable(),
});
export type Run = z.infer<typeof Run>;
