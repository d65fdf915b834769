import { homedir } from 'node:os';
import { type Backbone, processMetrics, storeMetrics } from '@capstan/backbone';
import { HOUR_MS } from '@capstan/contracts';
import { createEgress } from '@capstan/egress';
import { createWorkerMetrics, type WorkerMetrics } from '@capstan/execution';
import { createRedactor } from '@capstan/redact';
import { artifactStorage } from '@capstan/store/artifact';
import { parseSecretKeys } from '@capstan/store/secret';
import type { Registry } from 'prom-client';
import { createDocumentReaders } from './aside/document-readers.js';
import { createAuthenticator } from './auth/authenticator.js';
import { createRefusals } from './auth/refusals.js';
import { createOriginCheck } from './auth/same-origin.js';
import { loadCapabilities } from './capability/load-capabilities.js';
import { DEFAULT_LEASE_MS, DEFAULT_MAX_REQUESTS, DEFAULT_MCP_WAIT_MS, DEFAULT_SESSION_HOURS } from './env.js';
import { createActivity } from './event/activity.js';
import { createChanges } from './event/changes.js';
import { receiveEndings } from './event/endings.js';
import type { GatewayContext } from './gateway-context.js';
import type { GatewayOptions } from './gateway-options.js';
import { createMetrics } from './health/metrics.js';
import { Committer } from './invocation/committer.js';
import { createWaiters } from './invocation/waiters.js';
import { createShedder } from './load/create-shedder.js';
import type { ProcessStrain } from './load/process-strain.js';
import { createOidc } from './login/oidc.js';
import { createCallerCheck } from './mcp-endpoint/check-caller.js';
import { createMcpEndpoint } from './mcp-endpoint/mcp-endpoint.js';
import { createMcpListings } from './mcp-endpoint/mcp-listings.js';
import { createMcpNews } from './mcp-endpoint/mcp-news.js';
import { createMcpDiscovery } from './mcp-sources/mcp-discovery.js';
import { createTenantPolicies } from './policy/tenant-policies.js';
import { AppWorkers } from './pool/app-workers.js';
import { createPoolVersions } from './pool/pool-versions.js';
import { createWebhookAddresses } from './webhook/webhook-addresses.js';

type Lifecycle = Pick<GatewayContext, 'isStopping' | 'stopping'> & { strain: ProcessStrain };

export async function createContext(
  backbone: Backbone,
  options: GatewayOptions,
  { strain, stopping, isStopping }: Lifecycle,
): Promise<GatewayContext> {
  const { store, relay } = backbone;
  const endings = receiveEndings(relay);
  const waiters = createWaiters(store, relay, endings);
  const committer = new Committer(backbone, waiters.count);
  const checkOrigin = createOriginCheck(options);
  const oidc = options.oidc ? createOidc(store, options.oidc) : null;
  const attempts = options.attempts ?? createWorkerMetrics({}, new Map());
  const metrics = createMetrics(waiters.count, registriesBeside(backbone, options, attempts));
  const artifacts = options.artifacts ?? artifactStorage(null);
  const secret_keys = options.secret_keys ?? parseSecretKeys(undefined);
  const pool_versions = createPoolVersions(store);
  return {
    ...backbone,
    artifacts,
    secret_keys,
    pool_versions,
    app_workers: await AppWorkers.open(backbone, {
      lease_ms: options.lease_ms ?? DEFAULT_LEASE_MS,
      redactor: options.redactor ?? createRedactor({ values: [], patterns: [], home: homedir() }),
      artifacts,
      secrets: options.secrets ?? { env: {}, keys: secret_keys },
      metrics: attempts,
      versions: pool_versions,
      stopping,
    }),
    seal_key: options.seal_key ?? null,
    capabilities: await loadCapabilities(options.capabilities_file),
    policies: await createTenantPolicies(store, relay),
    authenticator: createAuthenticator(store, relay, checkOrigin, oidc),
    oidc,
    checkOrigin,
    solo_release: options.solo_release ?? false,
    session_ms: (options.session_hours ?? DEFAULT_SESSION_HOURS) * HOUR_MS,
    refusals: createRefusals(backbone),
    checkCaller: createCallerCheck(options),
    webhook_addresses: createWebhookAddresses(options.webhook_allow_private ?? false),
    committer,
    shedder: createShedder({
      max_requests: options.max_requests ?? DEFAULT_MAX_REQUESTS,
      max_lag_ms: options.max_lag_ms,
      commitWait: () => committer.waited_ms(),
      strain,
      onShed: metrics.shed,
    }),
    waiters,
    changes: createChanges(relay, endings),
    activity: createActivity(relay),
    readers: createDocumentReaders({ max_ms: options.read_ms }),
    egress: createEgress(),
    mcp_discovery: createMcpDiscovery(),
    isStopping,
    mcp_endpoint: createMcpEndpoint(),
    mcp_listings: await createMcpListings(store, relay),
    mcp_news: createMcpNews(relay),
    mcp_wait_ms: options.mcp_wait_ms ?? DEFAULT_MCP_WAIT_MS,
    mcp_registry_url: options.mcp_registry_url,
    public_url: options.public_url,
    stopping,
    metrics,
  };
}

/** The other registries shown at /metrics. If a worker runs in this process, its registry counts the attempts of pools, too. */
function registriesBeside(backbone: Backbone, options: GatewayOptions, attempts: WorkerMetrics): Registry[] {
  return [
    processMetrics(options.service ?? 'gateway', backbone),
    storeMetrics(backbone),
    ...(options.metrics_beside ?? []),
    ...(options.attempts ? [] : [attempts.registry]),
  ];
}
