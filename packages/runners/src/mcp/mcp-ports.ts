import type { NewMcpServer } from '@capstan/contracts';
import type { Egress } from '@capstan/egress';
import type { FetchLike, OAuthClientProvider } from '@modelcontextprotocol/client';
import type { ResolvedServer } from './resolve-server.js';

export type McpServerSettings = {
  config: NewMcpServer;
  /** Whether the very host that an operator registered may be on a private network. */
  allow_private: boolean;
};

/** How a server that people logged in to is spoken to. */
export type ServerTokens = { provider: OAuthClientProvider; fetch: FetchLike };

/** What the runner needs of the installation. */
export type McpPorts = {
  /** Null when there is no such server, or it is disabled. */
  server(name: string): Promise<McpServerSettings | null>;
  /** Servers were added, changed or removed. */
  onChange(listener: () => void): void;
  /** Its tools may have changed, or it cannot be reached: somebody should look at it again. */
  stale(name: string): void;
  /** A resource that somebody subscribed to has changed. */
  updated?(name: string, uri: string): void;
  /** The tokens for a server that people logged in to; undefined where nobody has. */
  tokens?(server: ResolvedServer, actor: string, egress: Egress): ServerTokens | undefined;
};
