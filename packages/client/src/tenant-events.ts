import type { TenantEvent, TenantEventType } from '@capstan/contracts';
import { fromGateway } from './read-json.js';
import { type EventsOptions, resumeStream } from './resume-stream.js';
import type { Transport } from './transport.js';

export type TenantEvents = {
  /** Yields changes in the tenant without end. A broken stream is resumed. */
  changes(options?: EventsOptions & { types?: TenantEventType[] | undefined }): AsyncIterable<TenantEvent>;
};

export const tenantEvents = (transport: Transport): TenantEvents => ({
  changes: ({ types, ...options } = {}) =>
    resumeStream<TenantEvent>(
      transport,
      {
        path: '/v1',
        query: { types: types?.join(',') },
        read: ({ data }) => fromGateway<TenantEvent>(data),
        endsWith: () => false,
        isOver: async () => false,
      },
      options,
    ),
});
