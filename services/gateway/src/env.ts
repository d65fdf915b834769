import { ARTIFACTS_ENV, BackboneEnv, PROBES_ENV, readEnv, SEAL_ENV } from '@capstan/backbone';
import { EXECUTION_ENV } from '@capstan/execution';
import { z } from 'zod';
import { OIDC_ENV } from './login/oidc-settings.js';

/** `a, b`: blanks and empty entries are ignored. */
const List = z
  .string()
  .default('')
  .transform((text) => text.split(',').flatMap((entry) => entry.trim() || []));
const Origins = List.pipe(z.array(z.url({ protocol: /^https?$/ })));
/** One gateway on two cores answers about this many in a second or two. More would wait longer than most callers do. */
export const DEFAULT_MAX_REQUESTS = 1000;
/** A working day. */
export const DEFAULT_SESSION_HOURS = 12;
/** Clients give up after a minute unless they get progress notifications. */
export const DEFAULT_MCP_WAIT_MS = 45_000;
export const DEFAULT_LEASE_MS = 15_000;
const Port = z.coerce.number().int().min(0).max(65_535);

export const GatewayEnv = BackboneEnv.extend({
  ...ARTIFACTS_ENV,
  ...SEAL_ENV,
  ...PROBES_ENV,
  ...EXECUTION_ENV,
  PORT: Port.optional(),
  CAPSTAN_PORT: Port.optional(),
  CAPSTAN_HOST: z.string().default('127.0.0.1'),
  CAPSTAN_BODY_LIMIT: z.coerce.number().int().min(1024).default(1_048_576),
  CAPSTAN_BULK_LIMIT: z.coerce.number().int().min(1024).default(67_108_864),
  CAPSTAN_MAX_REQUESTS: z.coerce.number().int().min(1).default(DEFAULT_MAX_REQUESTS),
  /** How long a body may take to arrive, beyond what its length explains. */
  CAPSTAN_BODY_MS: z.coerce.number().int().min(100).default(30_000),
  /** How long parsing YAML may take. */
  CAPSTAN_READ_MS: z.coerce.number().int().min(100).default(10_000),
  /** How long requests in progress may take after SIGTERM. */
  CAPSTAN_DRAIN_MS: z.coerce.number().int().min(0).default(10_000),
  CAPSTAN_METRICS: z.stringbool().default(true),
  CAPSTAN_MCP_FILE: z.string().optional(),
  CAPSTAN_MCP_REGISTRY_URL: z.url({ protocol: /^https?$/ }).optional(),
  CAPSTAN_MCP_WAIT_MS: z.coerce.number().int().min(0).max(900_000).default(DEFAULT_MCP_WAIT_MS),
  CAPSTAN_API_KEY: z.string().min(8).optional(),
  /** How long a worker of a pool may be silent before its calls are taken from it. */
  CAPSTAN_LEASE_MS: z.coerce.number().int().min(300).default(DEFAULT_LEASE_MS),
  /** The URL under which people reach the gateway. */
  CAPSTAN_PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
  CAPSTAN_ALLOWED_HOSTS: List,
  CAPSTAN_ALLOWED_ORIGINS: Origins,
  CAPSTAN_WEBHOOK_ALLOW_PRIVATE: z.stringbool().default(false),
  CAPSTAN_CAPABILITIES_FILE: z.string().optional(),
  ...OIDC_ENV,
  /** How long a login of the console lasts. */
  CAPSTAN_SESSION_HOURS: z.coerce.number().positive().max(720).default(DEFAULT_SESSION_HOURS),
  /** The built files of the console. */
  CAPSTAN_CONSOLE_DIR: z.string().optional(),
});
export type GatewayEnv = z.infer<typeof GatewayEnv>;

export const gatewayEnv = (env: NodeJS.ProcessEnv): GatewayEnv => readEnv(GatewayEnv, env);

export const DEFAULT_PORT = 7070;
