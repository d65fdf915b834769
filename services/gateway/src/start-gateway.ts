import { homedir } from 'node:os';
import { type Backbone, processMetrics, serveProbes, storeMetrics } from '@capstan/backbone';
import { createEgress } from '@capstan/egress';
import { createWorkerMetrics, type SecretSources, type WorkerMetrics } from '@capstan/execution';
import type { SealKey } from '@capstan/integrity';
import { createRedactor, type Redactor } from '@capstan/redact';
import { type ArtifactStorage, artifactStorage, parseSecretKeys, type SecretKeys } from '@capstan/store';
import type { Registry } from 'prom-client';
import { agentRoutes } from './agent/agent-routes.js';
import { artifactRoutes } from './artifact/artifact-routes.js';
import { createDocumentReaders } from './aside/document-readers.js';
import { atipRoutes } from './atip/atip-routes.js';
import { auditRoutes } from './audit/audit-routes.js';
import { createAuthenticator } from './auth/authenticator.js';
import { createRefusals } from './auth/refusals.js';
import { createOriginCheck } from './auth/same-origin.js';
import { bundleRoutes } from './bundle/bundle-routes.js';
import { capabilityRoutes } from './capability/capability-routes.js';
import { loadCapabilities } from './capability/load-capabilities.js';
import { commandRoutes } from './command/command-routes.js';
import { findConsole, serveConsole } from './console/serve-console.js';
import { descriptionRoutes } from './description/openapi-route.js';
import { DEFAULT_LEASE_MS, DEFAULT_MAX_REQUESTS, DEFAULT_MCP_WAIT_MS, DEFAULT_SESSION_HOURS } from './env.js';
import { createActivity } from './event/activity.js';
import { createChanges } from './event/changes.js';
import { receiveEndings } from './event/endings.js';
import { eventRoutes } from './event/event-routes.js';
import { extensionRoutes } from './extension/extension-routes.js';
import type { GatewayContext } from './gateway-context.js';
import { healthRoutes, metricsRoute } from './health/health-routes.js';
import { createMetrics } from './health/metrics.js';
import { holdRoutes } from './hold/hold-routes.js';
import { answerUnknown, createApp } from './http/create-app.js';
import { drainOnClose, type Shutdown } from './http/drain.js';
import { listen } from './http/listen.js';
import { logRequest } from './http/log-request.js';
import { registerRoutes } from './http/register-routes.js';
import { createCommitter } from './invocation/committer.js';
import { invocationRoutes } from './invocation/invocation-routes.js';
import { createWaiters } from './invocation/waiters.js';
import { keyRoutes } from './key/key-routes.js';
import { createShedder } from './load/create-shedder.js';
import { watchStrain } from './load/process-strain.js';
import { logRoutes } from './log/log-routes.js';
import { loginRoutes } from './login/login-routes.js';
import { createOidc } from './login/oidc.js';
import { oidcRoutes } from './login/oidc-routes.js';
import type { OidcSettings } from './login/oidc-settings.js';
import { type CallerRules, createCallerCheck } from './mcp-endpoint/check-caller.js';
import { createMcpEndpoint } from './mcp-endpoint/mcp-endpoint.js';
import { createMcpListings } from './mcp-endpoint/mcp-listings.js';
import { createMcpNews } from './mcp-endpoint/mcp-news.js';
import { mcpRoutes } from './mcp-endpoint/mcp-routes.js';
import { takeFile } from './mcp-sources/keep-mcp-servers.js';
import { createMcpDiscovery } from './mcp-sources/mcp-discovery.js';
import { mcpLoginRoutes } from './mcp-sources/mcp-login-routes.js';
import { mcpServerRoutes } from './mcp-sources/mcp-server-routes.js';
import { openApiRoutes } from './openapi/openapi-routes.js';
import { policyRoutes } from './policy/policy-routes.js';
import { createTenantPolicies } from './policy/tenant-policies.js';
import { createAppWorkers } from './pool/app-workers.js';
import { poolRoutes } from './pool/pool-routes.js';
import { createPoolVersions } from './pool/pool-versions.js';
import { queueRoutes } from './queue/queue-routes.js';
import { quotaRoutes } from './quota/quota-routes.js';
import { replayRoutes } from './replay/replay-routes.js';
import { reportRoutes } from './report/report-routes.js';
import { retentionRoutes } from './retention/retention-routes.js';
import { runRoutes } from './run/run-routes.js';
import { scheduleRoutes } from './schedule/schedule-routes.js';
import { secretRoutes } from './secret/secret-routes.js';
import { sessionRoutes } from './session/session-routes.js';
import { statsRoutes } from './stats/stats-routes.js';
import { toolRoutes } from './tool/tool-routes.js';
import { toolCallRoutes } from './tool-call/tool-call-routes.js';
import { toolsetRoutes } from './toolset/toolset-routes.js';
import { verifyRoutes } from './verify/verify-routes.js';
import { createWebhookAddresses } from './webhook/webhook-addresses.js';
import { webhookRoutes } from './webhook/webhook-routes.js';

export type GatewayOptions = CallerRules & {
  port: number;
  body_limit: number;
  bulk_limit: number;
  max_requests?: number;
  /** Whether webhooks may go to addresses within the own network. */
  webhook_allow_private?: boolean;
  /** How long the text of a document may take to be read. */
  read_ms?: number;
  /** How long a body may take to arrive, beyond what its length explains. */
  body_ms?: number;
  /** Where /metrics is served instead of beside everything else; null: nowhere. */
  metrics_at?: { host: string; port: number } | null;
  artifacts?: ArtifactStorage;
  capabilities_file?: string | undefined;
  secret_keys?: SecretKeys;
  seal_key?: SealKey | null;
  /** How long a worker of a pool may be silent before its calls are taken from it. */
  lease_ms?: number;
  /** Takes secrets out of what tools in their users' own processes give. */
  redactor?: Redactor;
  /** Where their secrets are looked up, beside Postgres. */
  secrets?: SecretSources;
  /** Where their attempts are counted, if a worker in this process counts its own as well. */
  attempts?: WorkerMetrics;
  mcp_file?: string | undefined;
  /** How it ends; without this, at once for whoever has nothing under way. */
  shutdown?: Shutdown;
  /** How long a login of the console lasts. */
  session_hours?: number;
  /** The identity provider that people log in with, and whose tokens are taken. */
  oidc?: OidcSettings | null;
  /** Whether an admin may release their own calls while there is nobody else: for an installation of one's own. */
  solo_release?: boolean;
  /** The built files of the console; where they were built unless given, null for no console. */
  console_dir?: string | null | undefined;
  mcp_wait_ms?: number | undefined;
  /** What its metrics say that it is, where it is more than a gateway. */
  service?: string;
  /** To be shown at /metrics, too. */
  metrics_beside?: readonly Registry[];
};
export type Gateway = {
  url: string;
  /** Where /metrics is served if not beside everything else. */
  metrics_url: string | null;
  stop(): Promise<void>;
};

const ROUTES = [
  ...healthRoutes,
  ...loginRoutes,
  ...oidcRoutes,
  ...eventRoutes,
  ...statsRoutes,
  ...invocationRoutes,
  ...runRoutes,
  ...verifyRoutes,
  ...logRoutes,
  ...bundleRoutes,
  ...replayRoutes,
  ...reportRoutes,
  ...auditRoutes,
  ...scheduleRoutes,
  ...holdRoutes,
  ...queueRoutes,
  ...poolRoutes,
  ...keyRoutes,
  ...mcpServerRoutes,
  ...mcpLoginRoutes,
  ...mcpRoutes,
  ...policyRoutes,
  ...secretRoutes,
  ...toolRoutes,
  ...toolsetRoutes,
  ...extensionRoutes,
  ...atipRoutes,
  ...openApiRoutes,
  ...commandRoutes,
  ...artifactRoutes,
  ...capabilityRoutes,
  ...agentRoutes,
  ...toolCallRoutes,
  ...sessionRoutes,
  ...webhookRoutes,
  ...quotaRoutes,
  ...retentionRoutes,
];

const AT_ONCE: Shutdown = { delay_ms: 0, quiet_ms: 0, drain_ms: 10_000 };
const HOUR_MS = 3_600_000;

export async function startGateway(backbone: Backbone, options: GatewayOptions): Promise<Gateway> {
  const { store, relay, log } = backbone;
  const endings = receiveEndings(relay);
  const waiters = createWaiters(store, relay, endings);
  const committer = createCommitter(backbone);
  const egress = createEgress();
  const stopping = new AbortController();
  let told_to_stop = false;
  const checkOrigin = createOriginCheck(options);
  const oidc = options.oidc ? createOidc(store, options.oidc) : null;
  const strain = watchStrain();
  const attempts = options.attempts ?? createWorkerMetrics({}, new Map());
  const beside = [
    processMetrics(options.service ?? 'gateway', backbone),
    storeMetrics(backbone),
    ...(options.metrics_beside ?? []),
  ];
  if (!options.attempts) beside.push(attempts.registry);
  const metrics = createMetrics(waiters.count, beside);
  const artifacts = options.artifacts ?? artifactStorage(null);
  const secret_keys = options.secret_keys ?? parseSecretKeys(undefined);
  const pool_versions = createPoolVersions(store);
  const gateway: GatewayContext = {
    ...backbone,
    artifacts,
    secret_keys,
    pool_versions,
    app_workers: await createAppWorkers(backbone, {
      lease_ms: options.lease_ms ?? DEFAULT_LEASE_MS,
      redactor: options.redactor ?? createRedactor({ values: [], patterns: [], home: homedir() }),
      artifacts,
      secrets: options.secrets ?? { env: {}, keys: secret_keys },
      metrics: attempts,
      versions: pool_versions,
      stopping: stopping.signal,
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
      commitWait: committer.waited_ms,
      strain,
      onShed: metrics.shed,
    }),
    waiters,
    changes: createChanges(relay, endings),
    activity: createActivity(relay),
    readers: createDocumentReaders({ max_ms: options.read_ms }),
    egress,
    mcp_discovery: createMcpDiscovery(),
    isStopping: () => told_to_stop,
    mcp_endpoint: createMcpEndpoint(),
    mcp_listings: await createMcpListings(store, relay),
    mcp_news: createMcpNews(relay),
    mcp_wait_ms: options.mcp_wait_ms ?? DEFAULT_MCP_WAIT_MS,
    public_url: options.public_url,
    stopping: stopping.signal,
    metrics,
  };

  const served = options.metrics_at === undefined ? [...ROUTES, metricsRoute] : ROUTES;
  const routes = [...served, ...descriptionRoutes(served)];
  const app = createApp(log, options);
  const shutdown = options.shutdown ?? AT_ONCE;
  drainOnClose(app, shutdown, () => {
    // Whoever waits is answered 202 in a moment rather than cut off.
    waiters.close(shutdown.quiet_ms);
    stopping.abort();
  });
  registerRoutes(app, gateway, routes, options.bulk_limit);
  const { console_dir = findConsole() } = options;
  answerUnknown(app, log, routes, serveConsole(app, console_dir));
  app.addHook('onResponse', async (request, reply) => {
    gateway.metrics.answered(request.routeOptions.url, reply.statusCode, reply.elapsedTime / 1000);
    logRequest(log, request, reply);
  });
  const url = await listen(app, options);
  const metrics_server = options.metrics_at
    ? await serveProbes(gateway, gateway.metrics.registry, options.metrics_at)
    : null;
  log.info({ url, ...(metrics_server ? { metrics: metrics_server.url } : {}) }, 'gateway started');
  const stopDiscovery = await gateway.mcp_discovery.start(gateway);
  if (options.mcp_file !== undefined) await takeFile(gateway, options.mcp_file);

  return {
    url,
    metrics_url: metrics_server?.url ?? null,
    stop: async () => {
      told_to_stop = true;
      await app.close();
      stopDiscovery();
      await gateway.mcp_endpoint.close();
      await egress.close();
      strain.close();
      await metrics_server?.close();
      await gateway.readers.close();
      await gateway.app_workers.stop();
      await committer.idle();
      log.info('gateway stopped');
    },
  };
}
