import { BackboneEnv, readEnv } from '@capstan/backbone';
import { CoordinatorEnv } from '@capstan/coordinator';
import { GatewayEnv } from '@capstan/gateway';
import { WorkerEnv } from '@capstan/worker';
import { z } from 'zod';

export const StandaloneEnv = z.object({
  ...GatewayEnv.shape,
  ...CoordinatorEnv.shape,
  ...WorkerEnv.shape,
  DATABASE_URL: BackboneEnv.shape.DATABASE_URL.optional(),
  CAPSTAN_API_KEY: GatewayEnv.shape.CAPSTAN_API_KEY,
  CAPSTAN_DATA_DIR: z.string().default('.capstan'),
  // The log goes to a terminal, so it only shows what somebody should act on.
  CAPSTAN_LOG_LEVEL: BackboneEnv.shape.CAPSTAN_LOG_LEVEL.unwrap().default('warn'),
});
export type StandaloneEnv = z.infer<typeof StandaloneEnv>;

export const standaloneEnv = (env: NodeJS.ProcessEnv): StandaloneEnv => readEnv(StandaloneEnv, env);
