import { ARTIFACTS_ENV, BackboneEnv, PROBES_ENV, readEnv, SEAL_ENV, SecretsKey } from '@capstan/backbone';
import type { KeptFor } from '@capstan/contracts';
import { parseSecretKeys } from '@capstan/store/secret';
import { z } from 'zod';
import type { WebhookOptions } from './webhook/run-webhooks.js';

export const CoordinatorEnv = BackboneEnv.extend({
  ...ARTIFACTS_ENV,
  ...SEAL_ENV,
  ...PROBES_ENV,
  CAPSTAN_SECRETS_KEY: SecretsKey.optional(),
  /** Whether webhooks may be sent to private addresses. */
  CAPSTAN_WEBHOOK_ALLOW_PRIVATE: z.stringbool().default(false),
  /** The URL of the gateway and its console, for links in notifications. */
  CAPSTAN_PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** The mail server: smtp:// or smtps://, including user and password. */
  CAPSTAN_SMTP_URL: z.url({ protocol: /^smtps?$/, error: 'must be an smtp:// or smtps:// URL' }).optional(),
  /** The sender address of mail. */
  CAPSTAN_MAIL_FROM: z.string().min(3).max(320).optional(),
  CAPSTAN_SWEEP_MS: z.coerce.number().int().min(50).default(1000),
  CAPSTAN_RETENTION_DAYS: z.coerce.number().positive().default(30),
  /** Removes results earlier than the records of their calls. */
  CAPSTAN_RETENTION_RESULTS_DAYS: z.coerce.number().positive().optional(),
});
export type CoordinatorEnv = z.infer<typeof CoordinatorEnv>;

export const coordinatorEnv = (env: NodeJS.ProcessEnv): CoordinatorEnv => readEnv(CoordinatorEnv, env);

export const retentionOf = (env: Omit<CoordinatorEnv, 'DATABASE_URL'>): KeptFor => ({
  records_days: env.CAPSTAN_RETENTION_DAYS,
  results_days: env.CAPSTAN_RETENTION_RESULTS_DAYS,
});

export const webhookOptions = (env: Omit<CoordinatorEnv, 'DATABASE_URL'>): WebhookOptions => ({
  secret_keys: parseSecretKeys(env.CAPSTAN_SECRETS_KEY),
  allow_private: env.CAPSTAN_WEBHOOK_ALLOW_PRIVATE,
  mail: { smtp_url: env.CAPSTAN_SMTP_URL, from: env.CAPSTAN_MAIL_FROM },
  ...(env.CAPSTAN_PUBLIC_URL === undefined ? {} : { public_url: env.CAPSTAN_PUBLIC_URL }),
});
