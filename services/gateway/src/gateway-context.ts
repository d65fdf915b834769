import type { Backbone } from '@capstan/backbone';
import type { CapabilityRegistry } from '@capstan/catalog';
import type { Egress } from '@capstan/egress';
import type { SealKey } from '@capstan/integrity';
import type { ArtifactStorage } from '@capstan/store/artifact';
import type { SecretKeys } from '@capstan/store/secret';
import type { DocumentReaders } from './aside/document-readers.js';
import type { Authenticator } from './auth/authenticator.js';
import type { Refusals } from './auth/refusals.js';
import type { CheckOrigin } from './auth/same-origin.js';
import type { Activity } from './event/activity.js';
import type { Changes } from './event/changes.js';
import type { Metrics } from './health/metrics.js';
import type { Committer } from './invocation/committer.js';
import type { Waiters } from './invocation/waiters.js';
import type { Shedder } from './load/create-shedder.js';
import type { Oidc } from './login/oidc.js';
import type { CheckCaller } from './mcp-endpoint/check-caller.js';
import type { McpEndpoint } from './mcp-endpoint/mcp-endpoint.js';
import type { McpListings } from './mcp-endpoint/mcp-listings.js';
import type { McpNews } from './mcp-endpoint/mcp-news.js';
import type { McpDiscovery } from './mcp-sources/mcp-discovery.js';
import type { TenantPolicies } from './policy/tenant-policies.js';
import type { AppWorkers } from './pool/app-workers.js';
import type { PoolVersions } from './pool/pool-versions.js';
import type { WebhookAddresses } from './webhook/webhook-addresses.js';

/** The dependencies and settings of the routes. */
export type GatewayContext = Backbone & {
  artifacts: ArtifactStorage;
  secret_keys: SecretKeys;
  seal_key: SealKey | null;
  capabilities: CapabilityRegistry;
  policies: TenantPolicies;
  authenticator: Authenticator;
  refusals: Refusals;
  checkCaller: CheckCaller;
  /** Refuses requests that were not sent by a page of this gateway. */
  checkOrigin: CheckOrigin;
  /** True if an admin may release their own calls while there is no second person. */
  solo_release: boolean;
  /** The identity provider, if one is configured. */
  oidc: Oidc | null;
  /** How long a login of the console lasts. */
  session_ms: number;
  webhook_addresses: WebhookAddresses;
  committer: Committer;
  shedder: Shedder;
  waiters: Waiters;
  metrics: Metrics;
  changes: Changes;
  activity: Activity;
  readers: DocumentReaders;
  /** For requests to authorization servers. */
  egress: Egress;
  mcp_discovery: McpDiscovery;
  app_workers: AppWorkers;
  pool_versions: PoolVersions;
  mcp_endpoint: McpEndpoint;
  mcp_listings: McpListings;
  mcp_news: McpNews;
  /** How long to wait for a call over MCP whose client asked for no progress notifications. */
  mcp_wait_ms: number;
  /** The MCP registry in which servers are looked up by name, if configured. */
  mcp_registry_url: string | undefined;
  /** The URL under which people reach the gateway, if configured. */
  public_url: string | undefined;
  /** True once the gateway was told to stop; it still answers. */
  isStopping(): boolean;
  /** Aborts when the gateway stops accepting connections, so that open streams do not keep it running. */
  stopping: AbortSignal;
};
