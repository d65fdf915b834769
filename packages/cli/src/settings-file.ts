import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { cannotRead } from './cannot-read.js';
import { UsageError } from './usage-error.js';

export type SettingsFile = { path: string; values: Record<string, string> };

/** The settings allowed in the file. */
const NAMES = /^(CAPSTAN_[A-Z0-9_]+|OTEL_[A-Z0-9_]+|DATABASE_URL|REDIS_URL|PORT)$/;
const FILES = ['capstan.yaml', 'capstan.yml'];

/**
 * Settings from `capstan.yaml` in this folder, or from the file named by CAPSTAN_CONFIG. They are named like environment
 * variables, which take precedence. Null if there is no such file.
 */
export async function readSettingsFile(env: NodeJS.ProcessEnv, cwd: string): Promise<SettingsFile | null> {
  const named = env.CAPSTAN_CONFIG || undefined;
  const path =
    named === undefined
      ? FILES.map((name) => resolve(cwd, name)).find((file) => existsSync(file))
      : resolve(cwd, named);
  if (path === undefined) return null;
  const { parse } = await import('yaml');
  let document: unknown;
  try {
    document = parse(readFileSync(path, 'utf8')) ?? {};
  } catch (error) {
    throw cannotRead(path, error);
  }
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    throw new UsageError(`${path} is not a map of settings`, 'Write one setting per line: CAPSTAN_LOG_LEVEL: info');
  return {
    path,
    values: Object.fromEntries(Object.entries(document).map(([name, value]) => [name, textOf(path, name, value)])),
  };
}

function textOf(path: string, name: string, value: unknown): string {
  if (!NAMES.test(name))
    throw new UsageError(
      `${path}: ${JSON.stringify(name)} is not a setting`,
      'Settings are named like environment variables, such as CAPSTAN_LOG_LEVEL: see docs/reference/configuration.md.',
    );
  if (Array.isArray(value) && value.every((entry) => typeof entry === 'string')) return value.join(',');
  if (value === null) return '';
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new UsageError(`${path}: ${name} must be a string, a number, a boolean or a list of strings`);
}

/** Sets the variables that are unset or empty. */
export function applySettings(env: NodeJS.ProcessEnv, { values }: SettingsFile): void {
  for (const [name, value] of Object.entries(values)) if (!env[name]) env[name] = value;
}
