import { BackboneEnv, readEnv } from '@capstan/backbone';
import { z } from 'zod';

export const WorkerEnv = BackboneEnv.extend({
  CAPSTAN_LEASE_MS: z.coerce.number().int().min(300).default(15_000),
  CAPSTAN_DRAIN_MS: z.coerce.number().int().min(0).default(10_000),
  CAPSTAN_WEDGE_MS: z.coerce.number().int().min(1000).default(60_000),
  CAPSTAN_WORK_DIR: z.string().optional(),
  CAPSTAN_API_KEY: z.string().optional(),
});
export type WorkerEnv = z.infer<typeof WorkerEnv>;

export const workerEnv = (env: NodeJS.ProcessEnv): WorkerEnv => readEnv(WorkerEnv, env);
