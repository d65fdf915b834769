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
  /** Changed inputs. The policy decides again; earlier votes stay valid if it treats the edited call the same. */
  inputs?: JsonObject | undefined;
  /** Answers to the questions of the hold, by key. */
  answers?: Answers | undefined;
  /** The hash of the inputs that were reviewed. The release is refused if they have changed since. */
  input_hash?: string | undefined;
};

export type Holds = {
  /** Lists pending holds, unless the filter says otherwise. */
  list(filter?: HoldFilter & PageOptions & { sort?: HoldSort | undefined }): Listing<HoldItem>;
  get(hold_id: string): Promise<Hold>;
  /** Earlier decisions about the same tool, and how those calls ended. */
  similar(hold_id: string): Promise<SimilarHolds>;
  /** Makes the same decision about many holds. Refused ones are reported, and the others are decided. */
  decide(decision: Decide): Promise<DecideAnswer>;
  /** Adds one vote. The call runs once enough votes are given. */
  release(hold_id: string, options?: ReleaseOptions): Promise<Hold>;
  reject(hold_id: string, comment: string): Promise<Hold>;
  comment(hold_id: string, comment: string): Promise<Hold>;
  /** Withdraws one's own call. */
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
