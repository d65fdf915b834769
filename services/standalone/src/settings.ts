import { envMistake } from '@capstan/backbone';
import { CoordinatorEnv } from '@capstan/coordinator';
import { GatewayEnv } from '@capstan/gateway';
import { WorkerEnv } from '@capstan/worker';
import type { z } from 'zod';
import { StandaloneEnv } from './env.js';

export type Setting = {
  name: string;
  /** The services that read it. */
  services: string[];
  /** The default value; null if there is none. */
  fallback: string | null;
};

const SERVICES: Record<string, z.ZodObject> = {
  gateway: GatewayEnv,
  coordinator: CoordinatorEnv,
  worker: WorkerEnv,
  up: StandaloneEnv,
};
/** Settings with variable names, and those of OpenTelemetry. */
const FAMILIES = /^(CAPSTAN_DB_|CAPSTAN_SECRET_|OTEL_)/;

/** All settings of the services, and those of `names` that belong to a family. */
export function listSettings(names: readonly string[] = []): Setting[] {
  const settings = new Map<string, Setting>();
  for (const [service, schema] of Object.entries(SERVICES))
    for (const [name, type] of Object.entries(schema.shape)) {
      const setting = settings.get(name) ?? { name, services: [], fallback: fallbackOf(type) };
      // `capstan up` runs all services, so it is only named for settings of its own.
      if (service !== 'up' || setting.services.length === 0) setting.services.push(service);
      settings.set(name, setting);
    }
  for (const name of names)
    if (FAMILIES.test(name) && !settings.has(name))
      settings.set(name, {
        name,
        services: name.startsWith('OTEL_') ? ['gateway', 'coordinator', 'worker'] : ['worker'],
        fallback: null,
      });
  return [...settings.values()].sort((a, b) => a.name.localeCompare(b.name));
}

function fallbackOf(type: z.core.$ZodType): string | null {
  const parsed = type instanceof Object && 'safeParse' in type ? (type as z.ZodType).safeParse(undefined) : null;
  if (!parsed?.success || parsed.data === undefined) return null;
  return Array.isArray(parsed.data) ? parsed.data.join(',') : String(parsed.data);
}

const SECRET = /KEY|SECRET|PASSWORD|TOKEN|HEADERS|COOKIE/;
const NO_SECRET = /_FILE$|_DIR$|_URL$/;
/** The value of a tool's secret, whatever its own name is. */
const OF_TOOLS = /^CAPSTAN_SECRET_/;
const PARAMETER = /([?&][^=&#]*(?:key|secret|pass|pwd|token|auth|sig)[^=&#]*=)[^&#]*/gi;

/** A value for display: hides secrets, including passwords and tokens in URLs. */
export function showSetting(name: string, value: string): string {
  if (OF_TOOLS.test(name) || (SECRET.test(name) && !NO_SECRET.test(name))) return '(hidden)';
  return (
    value
      // Up to the last @, because a password may contain one.
      .replace(
        /^([a-z][a-z0-9+.-]*:\/\/)(.*)@/i,
        (_, scheme: string, user: string) => `${scheme}${user.replace(/:.*/, ':(hidden)')}@`,
      )
      .replace(PARAMETER, '$1(hidden)')
  );
}

/** The errors that a start with these settings would report. */
export function checkSettings(env: NodeJS.ProcessEnv): string[] {
  const parsed = StandaloneEnv.safeParse(env);
  if (parsed.success) return [];
  return parsed.error.issues.map((issue) => envMistake(issue, env));
}
