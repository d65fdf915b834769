import {
  type Backbone,
  createLog,
  openArtifacts,
  openBackbone,
  openSealKey,
  requireSchema,
  startTelemetry,
  untilSignal,
} from '@capstan/backbone';
import { CLOSED_INSTALLATION, DEFAULT_TENANT, INSTALLATION_POLICY } from '@capstan/contracts';
import { ownRedactor, secretSources } from '@capstan/execution';
import { DEFAULT_POLICY } from '@capstan/policy';
import { ALL_ROLES, ensureKey } from '@capstan/store/key';
import { ensurePolicy } from '@capstan/store/policy';
import { parseSecretKeys } from '@capstan/store/secret';
import { DEFAULT_PORT, type GatewayEnv, gatewayEnv } from './env.js';
import type { GatewayOptions } from './gateway-options.js';
import { oidcSettings } from './login/oidc-settings.js';
import { startGateway } from './start-gateway.js';

/** Grace period for requests that are on their way over connections that look idle here. */
const QUIET_MS = 1000;

/** `capstan gateway`: serves until it is told to stop. */
export async function runGateway(): Promise<void> {
  const env = gatewayEnv(process.env);
  const told = untilSignal();
  const log = createLog('gateway', env.CAPSTAN_LOG_LEVEL, {
    format: env.CAPSTAN_LOG_FORMAT,
    redact: ownRedactor(env).text,
  });
  const telemetry = await startTelemetry('gateway', process.env, log);
  await requireSchema(env.DATABASE_URL, log);
  const backbone = await openBackbone({
    database_url: env.DATABASE_URL,
    redis_url: env.REDIS_URL,
    name: 'capstan-gateway',
    log,
  });
  await prepareFirstStart(backbone, env.CAPSTAN_API_KEY);
  const gateway = await startGateway(backbone, gatewayOptions(env));
  await told;
  await gateway.stop();
  await backbone.close();
  await telemetry.stop();
}

export const gatewayOptions = (env: Omit<GatewayEnv, 'DATABASE_URL'>): GatewayOptions => ({
  host: env.CAPSTAN_HOST,
  port: env.CAPSTAN_PORT ?? env.PORT ?? DEFAULT_PORT,
  body_limit: env.CAPSTAN_BODY_LIMIT,
  bulk_limit: env.CAPSTAN_BULK_LIMIT,
  body_ms: env.CAPSTAN_BODY_MS,
  read_ms: env.CAPSTAN_READ_MS,
  ...metricsPlace(env),
  shutdown: { delay_ms: env.CAPSTAN_SHUTDOWN_DELAY_MS, quiet_ms: QUIET_MS, drain_ms: env.CAPSTAN_DRAIN_MS },
  public_url: env.CAPSTAN_PUBLIC_URL,
  allowed_hosts: env.CAPSTAN_ALLOWED_HOSTS,
  allowed_origins: env.CAPSTAN_ALLOWED_ORIGINS,
  webhook_allow_private: env.CAPSTAN_WEBHOOK_ALLOW_PRIVATE,
  max_requests: env.CAPSTAN_MAX_REQUESTS,
  mcp_file: env.CAPSTAN_MCP_FILE,
  mcp_wait_ms: env.CAPSTAN_MCP_WAIT_MS,
  mcp_registry_url: env.CAPSTAN_MCP_REGISTRY_URL,
  capabilities_file: env.CAPSTAN_CAPABILITIES_FILE,
  oidc: oidcSettings(env),
  session_hours: env.CAPSTAN_SESSION_HOURS,
  console_dir: env.CAPSTAN_CONSOLE_DIR,
  lease_ms: env.CAPSTAN_LEASE_MS,
  redactor: ownRedactor(env),
  secrets: secretSources(env),
  secret_keys: parseSecretKeys(env.CAPSTAN_SECRETS_KEY),
  artifacts: openArtifacts(env),
  seal_key: openSealKey(env),
});

/** With the other routes, unless a port is set or metrics are switched off. */
function metricsPlace(env: Omit<GatewayEnv, 'DATABASE_URL'>): Pick<GatewayOptions, 'metrics_at'> {
  if (!env.CAPSTAN_METRICS) return { metrics_at: null };
  const { CAPSTAN_METRICS_HOST: host, CAPSTAN_METRICS_PORT: port } = env;
  return port === undefined ? {} : { metrics_at: { host, port } };
}

/** Installs the policies of the tenant `default` and of the installation, and the admin key if one is set. What exists is kept. */
export async function prepareFirstStart({ store }: Backbone, key: string | undefined): Promise<void> {
  await ensurePolicy(store, DEFAULT_TENANT, DEFAULT_POLICY);
  await ensurePolicy(store, INSTALLATION_POLICY, CLOSED_INSTALLATION);
  if (key !== undefined) await ensureKey(store, { tenant: DEFAULT_TENANT, actor: 'admin', roles: ALL_ROLES }, key);
}
