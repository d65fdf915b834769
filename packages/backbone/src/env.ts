import { parseSecretKeys } from '@capstan/store';
import { z } from 'zod';
import { LOG_FORMATS } from './log.js';

/** What every service reads from the environment; each adds its own. */
export const BackboneEnv = z.object({
  DATABASE_URL: z.string().regex(/^postgres(ql)?:\/\//, 'a postgres:// URL'),
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\//, 'a redis:// or rediss:// URL')
    .optional(),
  CAPSTAN_LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  /** `pretty` for people who read along: the default where the output is a terminal. */
  CAPSTAN_LOG_FORMAT: z.enum(LOG_FORMATS).default(process.stdout.isTTY ? 'pretty' : 'json'),
  /** Whether spans carry inputs and results. */
  CAPSTAN_TRACE_CONTENT: z.stringbool().default(false),
});
/** Where `/healthz`, `/readyz` and `/metrics` are served, of a service that has no other way in. */
export const PROBES_ENV = {
  CAPSTAN_METRICS_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  CAPSTAN_METRICS_HOST: z.string().default('127.0.0.1'),
  /** How long a service says that it is not ready before it begins to stop. */
  CAPSTAN_SHUTDOWN_DELAY_MS: z.coerce.number().int().min(0).max(600_000).default(0),
};
const ProbesEnv = z.object(PROBES_ENV);
export type ProbesEnv = z.infer<typeof ProbesEnv>;
export type BackboneEnv = z.infer<typeof BackboneEnv>;

/** What secrets are encrypted with at rest: keys of 32 bytes in base64 or hex, the one in use first. */
export const SecretsKey = z.string().superRefine((text, context) => {
  try {
    parseSecretKeys(text);
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : 'not a key' });
  }
});

/** A wrong value stops the start with one clear line for each variable. */
export function readEnv<Schema extends z.ZodType>(schema: Schema, env: NodeJS.ProcessEnv): z.infer<Schema> {
  // An empty variable is one that is not set: compose files and shells cannot say it otherwise.
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = schema.safeParse(set);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map(({ path, message }) => {
    const name = path.join('.');
    return `${name} ${set[name] === undefined ? 'is not set' : `is not right: ${message}`}`;
  });
  throw new EnvError(lines);
}

export class EnvError extends Error {
  override readonly name = 'EnvError';
  constructor(lines: string[]) {
    super(`The environment cannot be used:\n${lines.map((line) => `  ${line}`).join('\n')}`);
  }
}
