import type { Policy } from '@capstan/contracts';
import type { Transport } from './transport.js';

export type Policies = {
  get(name: string): Promise<Policy>;
  /** A document as an object, or as the YAML text that a person wrote. */
  put(name: string, document: object | string): Promise<Policy>;
};

export const policies = (transport: Transport): Policies => {
  const at = (name: string): string => `/v1/policies/${encodeURIComponent(name)}`;
  return {
    get: (name) => transport.json('GET', at(name)),
    put: (name, document) =>
      transport.json(
        'PUT',
        at(name),
        typeof document === 'string' ? { text: { content: document, type: 'application/yaml' } } : { body: document },
      ),
  };
};
