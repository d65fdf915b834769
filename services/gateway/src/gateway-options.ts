import type { SecretSources, WorkerMetrics } from '@capstan/execution';
import type { SealKey } from '@capstan/integrity';
import type { Redactor } from '@capstan/redact';
import type { ArtifactStorage } from '@capstan/store/artifact';
import type { SecretKeys } from '@capstan/store/secret';
import type { Registry } from 'prom-client';
import type { Shutdown } from './http/drain.js';
import type { OidcSettings } from './login/oidc-settings.js';
import type { CallerRules } from './mcp-endpoint/check-caller.js';

export type GatewayOptions = CallerRules & {
  port: number;
  body_limit: number;
  bulk_limit: number;
  max_requests?: number;
  /** How far the event loop may be behind before submissions are refused. */
  max_lag_ms?: number;
  /** True if webhooks may go to private addresses. */
  webhook_allow_private?: boolean;
  /** How long parsing a YAML document may take. */
  read_ms?: number;
  /** How long a body may take to arrive, beyond what its length explains. */
  body_ms?: number;
  /** Serves /metrics on an address of its own; null: not at all. */
  metrics_at?: { host: string; port: number } | null;
  artifacts?: ArtifactStorage;
  capabilities_file?: string | undefined;
  secret_keys?: SecretKeys;
  seal_key?: SealKey | null;
  /** How long a worker of a pool may be silent before its calls are taken from it. */
  lease_ms?: number;
  /** Redacts the output of tools in pools. */
  redactor?: Redactor;
  /** Where secrets of tools in pools are looked up, besides Postgres. */
  secrets?: SecretSources;
  /** The metrics of a worker in this process, which then also count the attempts of pools. */
  attempts?: WorkerMetrics;
  mcp_file?: string | undefined;
  /** The phases of a shutdown. By default idle connections are closed at once. */
  shutdown?: Shutdown;
  /** How long a login of the console lasts. */
  session_hours?: number;
  /** The identity provider that people log in with, and whose tokens are accepted. */
  oidc?: OidcSettings | null;
  /** True if an admin may release their own calls while there is no second person: for a single-user installation. */
  solo_release?: boolean;
  /** The built files of the console; found by default. Null: no console. */
  console_dir?: string | null | undefined;
  mcp_wait_ms?: number | undefined;
  /** The MCP registry in which servers are looked up by name. */
  mcp_registry_url?: string | undefined;
  /** The service name in its metrics; `gateway` by default. */
  service?: string;
  /** More registries to show at /metrics. */
  metrics_beside?: readonly Registry[];
};
