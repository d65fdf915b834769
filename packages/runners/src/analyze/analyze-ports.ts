import type { Json } from '@capstan/contracts';

/** The result of the last call in a session. */
export type LastResponse = { tool_id: string; content: Json };

/** The runner's access to the store; provided by the worker. */
export type AnalyzePorts = {
  /** Null if no call of the session has ended yet. */
  lastResponse(tenant: string, session_id: string): Promise<LastResponse | null>;
  /** The usage document of an extension; null if it has none. */
  usageDoc(extension_id: string): Promise<string | null>;
};

export const NO_PORTS: AnalyzePorts = { lastResponse: async () => null, usageDoc: async () => null };
