import type { AnalyzePorts } from '@capstan/runners';
import { lastResponse, readUsage, type Store } from '@capstan/store';

/** What the analyze runner asks of Postgres. */
export const createAnalyzePorts = (store: Store): AnalyzePorts => ({
  lastResponse: async (tenant, session_id) => {
    const last = await lastResponse(store, tenant, session_id);
    if (!last) return null;
    const { tool_id, success, payload, error } = last;
    return { tool_id, content: success ? payload : { error, payload } };
  },
  usageDoc: (extension_id) => readUsage(store, extension_id),
});
