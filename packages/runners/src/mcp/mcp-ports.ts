import type { NewMcpServer } from '@capstan/contracts';
import type { Egress } from '@capstan/egress';
import type { FetchLike, OAuthClientProvider } from '@modelcontextprotocol/client';
import type { ResolvedServer } from './resolve-server.js';

export type McpServerSettings = {
  config: NewMcpServer;
  /** Whether the host that an operator registered may be on a private network. */
  allow_private: boolean;
};

/** Tokens for a server that people log in to. */
export type ServerTokens = {
  provider: OAuthClientProvider;
  fetch: FetchLike;
  /** The server refused a request and said what tokens it requires. */
  challenged(challenge: { scope?: string; resource_metadata_url?: string }): Promise<void>;
};

/** What the runner needs from the installation. */
export type McpPorts = {
  /** Null if there is no such server, or it is disabled. */
  server(name: string): Promise<McpServerSettings | null>;
  /** Servers were added, changed or removed. */
  onChange(listener: () => void): void;
  /** Its tools may have changed, or it cannot be reached: it should be discovered again. */
  stale(name: string): void;
  /** A resource that somebody subscribed to has changed. */
  updated?(name: string, uri: string): void;
  /** Resources have changed; `isChanged` says which. */
  onUpdated?(listener: (isChanged: (name: string, uri: string) => boolean) => void): void;
  /** The tokens for a server that people logged in to; undefined where nobody has. */
  tokens?(server: ResolvedServer, actor: string, egress: Egress): ServerTokens | undefined;
};
