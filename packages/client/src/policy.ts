import { text } from 'node:stream/consumers';
import type {
  ExplainRequest,
  Explanation,
  Policy,
  PolicyVersion,
  PutPolicy,
  WhatIfAnswer,
  WhatIfLine,
  WhatIfRequest,
} from '@capstan/contracts';
import { splitLines } from './event-stream/split-lines.js';
import { listFrom } from './list-from.js';
import type { Listing, PageOptions } from './listing.js';
import type { Transport } from './transport.js';

type PutOptions = {
  /** Refused with 412 unless this version is still the one in force. */
  if_version?: number | undefined;
};

type VersionOptions = { version?: number | undefined };

export type Policies = {
  get(name: string, options?: VersionOptions): Promise<Policy>;
  /** As YAML that a person edits, with the comments it was written with. */
  yaml(name: string, options?: VersionOptions): Promise<string>;
  /** A document as an object, or as the YAML text that a person wrote. Warns of names that match no tool. */
  put(name: string, document: object | string, options?: PutOptions): Promise<PutPolicy>;
  /** Puts an earlier version in force again, as a new one. */
  rollback(name: string, version: number, options?: PutOptions): Promise<PutPolicy>;
  versions(query?: PageOptions & { name?: string | undefined }): Listing<PolicyVersion>;
  /** What policy says of a call, and of every rule why; nothing is recorded. */
  explain(request: ExplainRequest): Promise<Explanation>;
  /** Which recorded decisions a draft would change. */
  whatIf(request: WhatIfRequest): Promise<WhatIfAnswer>;
  /** The same as it goes on: what changes, how far it is, and the counts in the end. */
  whatIfLines(request: WhatIfRequest, options?: { signal?: AbortSignal | undefined }): AsyncIterable<WhatIfLine>;
};

/** A look at everything on record may take a while before the first word of the answer. */
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
    async *whatIfLines(request, { signal } = {}) {
      const body = await transport.stream('/v1/policy/what-if', {
        method: 'POST',
        body: request,
        headers: { accept: 'application/x-ndjson' },
        signal,
      });
      if (body === null) return;
      for await (const line of splitLines(body)) if (line !== '') yield JSON.parse(line) as WhatIfLine;
    },
  };
};
