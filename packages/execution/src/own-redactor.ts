import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { SecretsKey } from '@capstan/backbone';
import { createRedactor, type Redactor } from '@capstan/redact';
import { parseSecretKeys } from '@capstan/store/secret';
import { z } from 'zod';
import { ownSecrets } from './own-secrets.js';
import type { SecretSources } from './resolve-secret.js';
import { openSecretFile } from './secret-file.js';

/** One pattern per line, in RE2 syntax. */
const RedactPatterns = z.string().superRefine((text, context) => {
  try {
    createRedactor({ values: [], patterns: patternsIn(text) });
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : 'not RE2 syntax' });
  }
});

/** Empty lines and lines that begin with # are ignored. */
const patternsIn = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));

/** The settings for secrets and redaction of every process that runs calls. */
export const EXECUTION_ENV = {
  CAPSTAN_API_KEY: z.string().optional(),
  CAPSTAN_SECRETS_KEY: SecretsKey.optional(),
  CAPSTAN_SECRETS_FILE: z.string().optional(),
  CAPSTAN_REDACT_PATTERNS: RedactPatterns.optional(),
  CAPSTAN_REDACT_PATTERNS_FILE: z.string().optional(),
};
const ExecutionEnv = z.object(EXECUTION_ENV);
type ExecutionEnv = z.infer<typeof ExecutionEnv> & { DATABASE_URL?: string | undefined };

/** Redacts what must never leave this process: its own secrets, and those in the secrets file. */
export function ownRedactor(env: ExecutionEnv): Redactor {
  const { CAPSTAN_SECRETS_FILE: file, CAPSTAN_REDACT_PATTERNS_FILE: patterns } = env;
  const known = { ...process.env, DATABASE_URL: env.DATABASE_URL, CAPSTAN_API_KEY: env.CAPSTAN_API_KEY };
  return createRedactor({
    values: [
      ...ownSecrets({ ...known, CAPSTAN_SECRETS_KEY: env.CAPSTAN_SECRETS_KEY }),
      ...(file === undefined ? [] : openSecretFile(file).values()),
    ],
    patterns: [
      ...patternsIn(env.CAPSTAN_REDACT_PATTERNS ?? ''),
      ...(patterns === undefined ? [] : patternsIn(readFileSync(patterns, 'utf8'))),
    ],
    home: homedir(),
  });
}

/** Where `secret://name` is looked up, besides Postgres. */
export const secretSources = (env: ExecutionEnv): SecretSources => ({
  env: process.env,
  file: env.CAPSTAN_SECRETS_FILE === undefined ? undefined : openSecretFile(env.CAPSTAN_SECRETS_FILE),
  keys: parseSecretKeys(env.CAPSTAN_SECRETS_KEY),
});
