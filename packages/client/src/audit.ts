import type { AuditEntry, AuditFilter, AuditVerification } from '@capstan/contracts';
import { splitLines } from './event-stream/split-lines.js';
import { listFrom } from './list-from.js';
import type { Listing, PageOptions } from './listing.js';
import { fromGateway } from './read-json.js';
import type { Transport } from './transport.js';

export type Audit = {
  /** Newest first. */
  list(options?: AuditFilter & PageOptions): Listing<AuditEntry>;
  /** All entries, oldest first. */
  export(filter?: AuditFilter): AsyncIterable<AuditEntry>;
  verify(): Promise<AuditVerification>;
};

const LOOK_S = 600;

export const audit = (transport: Transport): Audit => ({
  list: (options = {}) => listFrom(transport, '/v1/audit', { ...options }),
  async *export(filter = {}) {
    const body = await transport.stream('/v1/audit', {
      query: { ...filter },
      headers: { accept: 'application/x-ndjson' },
    });
    if (body === null) return;
    for await (const line of splitLines(body)) if (line !== '') yield fromGateway<AuditEntry>(line);
  },
  verify: () => transport.json('GET', '/v1/audit/verify', { wait_s: LOOK_S }),
});
