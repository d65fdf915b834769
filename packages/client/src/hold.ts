import type {
  Answers,
  Decide,
  DecideAnswer,
  Grant,
  Hold,
  HoldFilter,
  HoldItem,
  HoldSort,
  JsonObject,
  NewGrantInput,
  SimilarHolds,
} from '@capstan/contracts';
import { listFrom } from './list-from.js';
import type { Listing, PageOptions } from './listing.js';
import type { Transport } from './transport.js';

export type ReleaseOptions = {
  comment?: string | undefined;
  /** Changed inputs. Policy decides on them again; votes given before stay good unless it sees another call in them. */
  inputs?: JsonObject | undefined;
  /** To the questions of a hold that asks some, by their keys. */
  answers?: Answers | undefined;
  /** Of the inputs that were looked at: refused when they are others by now. */
  input_hash?: string | undefined;
};

export type Holds = {
  /** Those that are pending, unless the filter says otherwise. */
  list(filter?: HoldFilter & PageOptions & { sort?: HoldSort | undefined }): Listing<HoldItem>;
  get(hold_id: string): Promise<Hold>;
  /** Earlier decisions on the same tool, and how those calls ended. */
  similar(hold_id: string): Promise<SimilarHolds>;
  /** The same decision on many; what is refused is named, and the rest go on. */
  decide(decision: Decide): Promise<DecideAnswer>;
  /** One vote; with the last one that is needed the call runs. */
  release(hold_id: string, options?: ReleaseOptions): Promise<Hold>;
  reject(hold_id: string, comment: string): Promise<Hold>;
  comment(hold_id: string, comment: string): Promise<Hold>;
  /** Takes back a call of one's own. */
  withdraw(hold_id: string, comment?: string): Promise<Hold>;
};

/** Votes given in advance. */
export type Grants = {
  create(grant: NewGrantInput): Promise<Grant>;
  list(options?: PageOptions): Listing<Grant>;
  revoke(grant_id: string): Promise<void>;
};

export const holds = (transport: Transport): Holds => {
  const at = (hold_id: string, what = ''): string => `/v1/holds/${encodeURIComponent(hold_id)}${what}`;
  return {
    list: (filter = {}) => listFrom(transport, '/v1/holds', { ...filter }),
    get: (hold_id) => transport.json('GET', at(hold_id)),
    similar: (hold_id) => transport.json('GET', at(hold_id, '/similar')),
    decide: (decision) => transport.json('POST', '/v1/holds/decide', { body: decision }),
    release: (hold_id, options = {}) => transport.json('POST', at(hold_id, '/release'), { body: { ...options } }),
    reject: (hold_id, comment) => transport.json('POST', at(hold_id, '/reject'), { body: { comment } }),
    comment: (hold_id, comment) => transport.json('POST', at(hold_id, '/comments'), { body: { comment } }),
    withdraw: (hold_id, comment) => transport.json('POST', at(hold_id, '/withdraw'), { body: { comment } }),
  };
};

export const grants = (transport: Transport): Grants => ({
  create: (grant) => transport.json('POST', '/v1/grants', { body: grant }),
  list: (options = {}) => listFrom(transport, '/v1/grants', { ...options }),
  revoke: (grant_id) => transport.json('DELETE', `/v1/grants/${encodeURIComponent(grant_id)}`),
});
