import { issueText } from '@capstan/contracts';
import { parseSecretKeys } from '@capstan/store/secret';
import { z } from 'zod';
import { LOG_FORMATS } from './log.js';

/** The variables that every service reads; each adds its own. */
export const BackboneEnv = z.object({
  DATABASE_URL: z.string().regex(/^postgres(ql)?:\/\//, 'must be a postgres:// URL'),
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\//, 'must be a redis:// or rediss:// URL')
    .optional(),
  CAPSTAN_LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  /** `pretty` is for people, and the default if the output is a terminal. */
  CAPSTAN_LOG_FORMAT: z.enum(LOG_FORMATS).default(process.stdout.isTTY ? 'pretty' : 'json'),
  /** Whether spans carry inputs and results. */
  CAPSTAN_TRACE_CONTENT: z.stringbool().default(false),
});
/** Where a service without an HTTP API serves `/healthz`, `/readyz` and `/metrics`. */
export const PROBES_ENV = {
  CAPSTAN_METRICS_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  CAPSTAN_METRICS_HOST: z.string().default('127.0.0.1'),
  /** How long a service reports that it is not ready before it starts to stop. */
  CAPSTAN_SHUTDOWN_DELAY_MS: z.coerce.number().int().min(0).max(600_000).default(0),
};
const ProbesEnv = z.object(PROBES_ENV);
export type ProbesEnv = z.infer<typeof ProbesEnv>;
export type BackboneEnv = z.infer<typeof BackboneEnv>;

/** The keys that encrypt secrets at rest: 32 bytes each in base64 or hex, the current one first. */
export const SecretsKey = z.string().superRefine((text, context) => {
  try {
    parseSecretKeys(text);
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : 'not a key' });
  }
});

/** A wrong value stops the start with one clear line for each variable. */
export function readEnv<Schema extends z.ZodType>(schema: Schema, env: NodeJS.ProcessEnv): z.infer<Schema> {
  // An empty variable counts as unset, because compose files cannot unset one.
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = schema.safeParse(set);
  if (parsed.success) return parsed.data;
  throw new EnvError(parsed.error.issues.map((issue) => envMistake(issue, set)));
}

/** `CAPSTAN_PORT is invalid: it must be a number` */
export function envMistake(issue: z.core.$ZodIssue, env: NodeJS.ProcessEnv): string {
  const name = issue.path.join('.');
  if (env[String(issue.path[0])] === undefined)
    return name === 'DATABASE_URL'
      ? 'DATABASE_URL is not set: name a database, as in postgres://user:password@host:5432/capstan. `capstan up` brings its own.'
      : `${name} is not set`;
  const text = issueText(issue);
  return `${name} is invalid: ${/^(must|is|has) /.test(text) ? `it ${text}` : text}`;
}

export class EnvError extends Error {
  override readonly name = 'EnvError';
  constructor(lines: string[]) {
    super(`The environment is invalid:\n${lines.map((line) => `  ${line}`).join('\n')}`);
  }
}
