import type { Json } from '@capstan/contracts';

/** What the last call of a session answered. */
export type LastResponse = { tool_id: string; content: Json };

/** What the runner asks of the store; a worker hands it in. */
export type AnalyzePorts = {
  /** Null when nothing of the session has ended yet. */
  lastResponse(tenant: string, session_id: string): Promise<LastResponse | null>;
  /** How to use an extension, in its author's words; null when it does not say. */
  usageDoc(extension_id: string): Promise<string | null>;
};

export const NO_PORTS: AnalyzePorts = { lastResponse: async () => null, usageDoc: async () => null };
