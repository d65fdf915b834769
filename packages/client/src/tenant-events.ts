import type { TenantEvent, TenantEventType } from '@capstan/contracts';
import { type EventsOptions, resumeStream } from './resume-stream.js';
import type { Transport } from './transport.js';

export type TenantEvents = {
  /** What changes in the tenant, without an end; a broken stream is resumed. */
  changes(options?: EventsOptions & { types?: TenantEventType[] | undefined }): AsyncIterable<TenantEvent>;
};

export const tenantEvents = (transport: Transport): TenantEvents => ({
  changes: ({ types, ...options } = {}) =>
    resumeStream<TenantEvent>(
      transport,
      {
        path: '/v1',
        query: { types: types?.join(',') },
        read: ({ data }) => JSON.parse(data) as TenantEvent,
        endsWith: () => false,
        isOver: async () => false,
      },
      options,
    ),
});
