import { text } from 'node:stream/consumers';
import type {
  ExplainRequest,
  Explanation,
  Policy,
  PolicyProposal,
  PolicyVersion,
  PutPolicy,
  WhatIfAnswer,
  WhatIfLine,
  WhatIfRequest,
} from '@capstan/contracts';
import { splitLines } from './event-stream/split-lines.js';
import { listFrom } from './list-from.js';
import type { Listing, PageOptions } from './listing.js';
import { fromGateway } from './read-json.js';
import type { Transport } from './transport.js';

type PutOptions = {
  /** The change is refused with 412 unless this version is still in force. */
  if_version?: number | undefined;
};

type VersionOptions = { version?: number | undefined };

export type Policies = {
  get(name: string, options?: VersionOptions): Promise<Policy>;
  /** The policy as YAML, with its original comments. */
  yaml(name: string, options?: VersionOptions): Promise<string>;
  /** Stores a policy, given as an object or as YAML text. Warns about names that match no tool. */
  put(name: string, document: object | string, options?: PutOptions): Promise<PutPolicy>;
  /** Restores an earlier version as a new one. */
  rollback(name: string, version: number, options?: PutOptions): Promise<PutPolicy>;
  versions(query?: PageOptions & { name?: string | undefined }): Listing<PolicyVersion>;
  /** Returns the decision about a call, and why each rule matched or not. Nothing is recorded. */
  explain(request: ExplainRequest): Promise<Explanation>;
  /** Returns the recorded decisions that a draft would change. */
  whatIf(request: WhatIfRequest): Promise<WhatIfAnswer>;
  /** Like `whatIf`, as a stream of changes and progress, with the counts at the end. */
  whatIfLines(request: WhatIfRequest, options?: { signal?: AbortSignal | undefined }): AsyncIterable<WhatIfLine>;
  /**
   * Proposes a rule that would allow calls like a held one, with its exact scope and the decisions it would have changed in the last 30
   * days. Nothing is stored. With `inputs`, only these members of the inputs must be the same.
   */
  propose(hold_id: string, options?: { inputs?: string[] | undefined }): Promise<PolicyProposal>;
};

/** Checking all records may take a while before the response starts. */
const LOOK_S = 600;

const ifMatch = ({ if_version }: PutOptions = {}): Record<string, string> =>
  if_version === undefined ? {} : { 'if-match': `"${if_version}"` };

export const policies = (transport: Transport): Policies => {
  const at = (name: string): string => `/v1/policies/${encodeURIComponent(name)}`;
  return {
    get: (name, { version } = {}) => transport.json('GET', at(name), { query: { version } }),
    yaml: async (name, { version } = {}) => {
      const body = await transport.stream(at(name), { query: { version }, headers: { accept: 'application/yaml' } });
      return body === null ? '' : text(body);
    },
    put: (name, document, options) =>
      transport.json('PUT', at(name), {
        ...(typeof document === 'string'
          ? { text: { content: document, type: 'application/yaml' } }
          : { body: document }),
        headers: ifMatch(options),
      }),
    rollback: (name, version, options) =>
      transport.json('POST', `${at(name)}/rollback`, { body: { version }, headers: ifMatch(options) }),
    versions: (query = {}) => listFrom(transport, '/v1/policies', query),
    explain: (request) => transport.json('POST', '/v1/policy/explain', { body: request }),
    whatIf: (request) => transport.json('POST', '/v1/policy/what-if', { body: request, wait_s: LOOK_S }),
    propose: (hold_id, { inputs } = {}) =>
      transport.json('POST', '/v1/policy/propose', { body: { hold_id, inputs }, wait_s: LOOK_S }),
    async *whatIfLines(request, { signal } = {}) {
      const body = await transport.stream('/v1/policy/what-if', {
        method: 'POST',
        body: request,
        headers: { accept: 'application/x-ndjson' },
        signal,
      });
      if (body === null) return;
      for await (const line of splitLines(body)) if (line !== '') yield fromGateway<WhatIfLine>(line);
    },
  };
};
