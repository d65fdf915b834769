import type { AnalyzePorts } from '@capstan/runners';
import type { Store } from '@capstan/store';
import { readUsage } from '@capstan/store/extension';
import { lastResponse } from '@capstan/store/session';

/** The analyze runner's queries to Postgres. */
export const createAnalyzePorts = (store: Store): AnalyzePorts => ({
  lastResponse: async (tenant, session_id) => {
    const last = await lastResponse(store, tenant, session_id);
    if (!last) return null;
    const { tool_id, success, payload, error } = last;
    return { tool_id, content: success ? payload : { error, payload } };
  },
  usageDoc: (extension_id) => readUsage(store, extension_id),
});
