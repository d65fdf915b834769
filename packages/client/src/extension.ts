import type { InstalledExtension, NewExtension, ToolChanges } from '@capstan/contracts';
import { listFrom } from './list-from.js';
import type { Listing } from './listing.js';
import type { Transport } from './transport.js';

export type Extensions = {
  /** Installs from a folder on the gateway's machine, or from the given documents. */
  install(extension: NewExtension): Promise<InstalledExtension & { changes: ToolChanges }>;
  list(): Listing<InstalledExtension>;
  get(extension_id: string): Promise<InstalledExtension & { usage: string | null }>;
  enable(extension_id: string, enabled: boolean): Promise<InstalledExtension>;
  remove(extension_id: string): Promise<void>;
};

export const extensions = (transport: Transport): Extensions => {
  const at = (extension_id: string): string => `/v1/extensions/${encodeURIComponent(extension_id)}`;
  return {
    install: (extension) => transport.json('POST', '/v1/extensions', { body: extension }),
    list: () => listFrom(transport, '/v1/extensions', {}),
    get: (extension_id) => transport.json('GET', at(extension_id)),
    enable: (extension_id, enabled) => transport.json('PATCH', at(extension_id), { body: { enabled } }),
    remove: (extension_id) => transport.json('DELETE', at(extension_id)),
  };
};
