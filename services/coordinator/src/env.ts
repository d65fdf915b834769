import { BackboneEnv, readEnv } from '@capstan/backbone';
import { z } from 'zod';

export const DAY_MS = 86_400_000;

export const CoordinatorEnv = BackboneEnv.extend({
  CAPSTAN_SWEEP_MS: z.coerce.number().int().min(50).default(1000),
  CAPSTAN_RETENTION_DAYS: z.coerce.number().positive().default(30),
});
export type CoordinatorEnv = z.infer<typeof CoordinatorEnv>;

export const coordinatorEnv = (env: NodeJS.ProcessEnv): CoordinatorEnv => readEnv(CoordinatorEnv, env);
