import type { AddedOpenApi, InstalledOpenApi, NewOpenApi, OpenApiPreview } from '@capstan/contracts';
import { listFrom } from './list-from.js';
import type { Listing } from './listing.js';
import type { Transport } from './transport.js';

export type OpenApis = {
  /** Adds an OpenAPI document. Each of its operations becomes a tool. */
  add(openapi: Omit<NewOpenApi, 'dry_run'>): Promise<AddedOpenApi>;
  /** Returns the tools that a document would give, without storing anything. */
  preview(openapi: Omit<NewOpenApi, 'dry_run'>): Promise<OpenApiPreview>;
  list(): Listing<InstalledOpenApi>;
  get(name: string): Promise<InstalledOpenApi & { document: unknown; options: unknown }>;
  remove(name: string): Promise<void>;
};

export const openApis = (transport: Transport): OpenApis => {
  const at = (name: string): string => `/v1/openapi/${encodeURIComponent(name)}`;
  return {
    add: (openapi) => transport.json('POST', '/v1/openapi', { body: openapi }),
    preview: (openapi) => transport.json('POST', '/v1/openapi', { body: { ...openapi, dry_run: true } }),
    list: () => listFrom(transport, '/v1/openapi', {}),
    get: (name) => transport.json('GET', at(name)),
    remove: (name) => transport.json('DELETE', at(name)),
  };
};
