import { ARTIFACTS_ENV, BackboneEnv, PROBES_ENV, readEnv } from '@capstan/backbone';
import { EXECUTION_ENV } from '@capstan/execution';
import { z } from 'zod';

const MIN_UID = 1000;
const MAX_UID = 2 ** 31 - 2;
const NOBODY = 65_534;

/** `first-last`: user ids that nothing else on the machine uses. */
const UserRange = z
  .string()
  .regex(/^\d+-\d+$/, 'must be first-last, such as 1900000000-1900065535')
  .transform((text) => {
    const [first = 0, last = 0] = text.split('-').map(Number);
    return { first, last };
  })
  .refine(({ first, last }) => first >= MIN_UID && first <= last && last <= MAX_UID, {
    message: `must be ids from ${MIN_UID} to ${MAX_UID}, the first not above the last`,
  })
  .refine(({ first, last }) => last < NOBODY || first > NOBODY, {
    message: `must not contain ${NOBODY}, which is nobody and may run Postgres`,
  });
export const WorkerEnv = BackboneEnv.extend({
  ...ARTIFACTS_ENV,
  ...EXECUTION_ENV,
  ...PROBES_ENV,
  CAPSTAN_LEASE_MS: z.coerce.number().int().min(300).default(15_000),
  CAPSTAN_DRAIN_MS: z.coerce.number().int().min(0).default(10_000),
  CAPSTAN_WEDGE_MS: z.coerce.number().int().min(1000).default(60_000),
  CAPSTAN_WORK_DIR: z.string().optional(),
  CAPSTAN_WORKSPACE: z.string().optional(),
  /** For a worker that runs as root: the users that tools run as, one for each tenant. */
  CAPSTAN_TOOL_UIDS: UserRange.optional(),
  CAPSTAN_LLM_PROVIDER: z.enum(['openai', 'anthropic']).optional(),
  CAPSTAN_LLM_BASE_URL: z
    .string()
    .regex(/^https?:\/\//, 'must be an http:// or https:// URL')
    .optional(),
  CAPSTAN_LLM_MODEL: z.string().optional(),
  CAPSTAN_LLM_API_KEY: z.string().optional(),
  CAPSTAN_LLM_MAX_TOKENS: z.coerce.number().int().positive().optional(),
  CAPSTAN_LLM_INPUT_COST: z.coerce.number().nonnegative().optional(),
  CAPSTAN_LLM_OUTPUT_COST: z.coerce.number().nonnegative().optional(),
});
export type WorkerEnv = z.infer<typeof WorkerEnv>;

export const workerEnv = (env: NodeJS.ProcessEnv): WorkerEnv => readEnv(WorkerEnv, env);
