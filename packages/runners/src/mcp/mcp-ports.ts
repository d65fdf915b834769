import type { NewMcpServer } from '@capstan/contracts';

export type McpServerSettings = {
  config: NewMcpServer;
  /** Whether the very host that an operator registered may be on a private network. */
  allow_private: boolean;
};

/** What the runner needs of the installation. */
export type McpPorts = {
  /** Null when there is no such server, or it is disabled. */
  server(name: string): Promise<McpServerSettings | null>;
  /** Servers were added, changed or removed. */
  onChange(listener: () => void): void;
  /** Its tools may have changed, or it cannot be reached: somebody should look at it again. */
  stale(name: string): void;
};
