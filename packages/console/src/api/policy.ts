import type { PolicyVersion, PutPolicy, WhatIfAnswer } from '@capstan/contracts';
import { queryOptions } from '@tanstack/react-query';
import type { Mistake } from '../ui/code-editor.js';
import { getAll, ProblemError, post, request, send } from './request.js';

const at = (name: string, action = ''): string => `/v1/policies/${encodeURIComponent(name)}${action}`;

export type PolicyText = { text: string; etag: string | null };

/** The document as written, including comments. */
export const policyTextQuery = (name: string, version?: number) =>
  queryOptions({
    queryKey: ['policy', 'text', name, version ?? 'latest'],
    queryFn: async ({ signal }): Promise<PolicyText> => {
      const response = await send('GET', at(name), {
        headers: { accept: 'application/yaml' },
        query: { version },
        signal,
      });
      return { text: await response.text(), etag: response.headers.get('etag') };
    },
    staleTime: version === undefined ? 5000 : Number.POSITIVE_INFINITY,
  });

export const versionsQuery = queryOptions({
  queryKey: ['policy', 'versions'],
  queryFn: () => getAll<PolicyVersion>('/v1/policies', { limit: 200 }, 1000),
});

/** Refused if somebody else has stored another version in the meantime. */
export async function putPolicy(name: string, text: string, etag: string | null): Promise<PutPolicy> {
  const response = await send('PUT', at(name), {
    text: { content: text, type: 'application/yaml' },
    ...(etag ? { headers: { 'if-match': etag } } : {}),
  });
  return response.json();
}

/** Refused if another version than `in_force` has been put in force in the meantime. */
export const rollBack = (name: string, version: number, in_force: number): Promise<PutPolicy> =>
  request('POST', at(name, '/rollback'), { body: { version }, headers: { 'if-match': `"${in_force}"` } });

export const whatIf = (policy: string, since: string | undefined, limit = 50): Promise<WhatIfAnswer> =>
  post('/v1/policy/what-if', { policy, limit, ...(since ? { since } : {}) });

/** The mistakes in a draft, line by line, as the gateway would report them when it is stored. */
export async function checkPolicy(policy: string): Promise<Mistake[]> {
  try {
    await post('/v1/policy/explain', { tool_id: 'cap:noop:noop', policy });
    return [];
  } catch (error) {
    if (!(error instanceof ProblemError) || error.problem.code !== POLICY_INVALID) throw error;
    const { errors } = error.problem as {
      errors?: { field: string; message: string; line?: number; column?: number }[];
    };
    return (errors ?? [{ field: '', message: error.message }]).map(({ field, message, ...place }) => ({
      line: 'line' in place ? (place.line ?? 1) : 1,
      ...('column' in place && place.column ? { column: place.column } : {}),
      message: field ? `${field}: ${message}` : message,
      severity: 'error',
    }));
  }
}
const POLICY_INVALID = 1002;
