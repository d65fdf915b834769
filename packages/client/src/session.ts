import type {
  LastResponse,
  NewSessionFileInput,
  Session,
  SessionFile,
  SessionFileContent,
  SessionNote,
} from '@capstan/contracts';
import { listFrom } from './list-from.js';
import type { Listing, PageOptions } from './listing.js';
import type { Transport } from './transport.js';

export type Sessions = {
  get(session_id: string): Promise<Session>;
  lastResponse(session_id: string): Promise<LastResponse>;
  /** Clears the last response until the next result. Records are kept. */
  clearLastResponse(session_id: string): Promise<void>;
  notes(session_id: string): Listing<SessionNote>;
  files: {
    list(session_id: string, path?: string, options?: PageOptions): Listing<SessionFile>;
    read(session_id: string, path: string): Promise<SessionFileContent>;
    write(session_id: string, path: string, file: NewSessionFileInput): Promise<SessionFile>;
    delete(session_id: string, path: string, options?: { recursive?: boolean }): Promise<void>;
  };
};

export const sessions = (transport: Transport): Sessions => {
  const at = (session_id: string): string => `/v1/sessions/${encodeURIComponent(session_id)}`;
  const file = (session_id: string, path: string): string =>
    `${at(session_id)}/files/${path.split('/').filter(Boolean).map(encodeURIComponent).join('/')}`;
  return {
    get: (session_id) => transport.json('GET', at(session_id)),
    lastResponse: (session_id) => transport.json('GET', `${at(session_id)}/last-response`),
    clearLastResponse: (session_id) => transport.json('DELETE', `${at(session_id)}/last-response`),
    notes: (session_id) => listFrom(transport, `${at(session_id)}/notes`, {}),
    files: {
      list: (session_id, path = '/', options = {}) =>
        listFrom(transport, `${at(session_id)}/files`, { ...options, path }),
      read: (session_id, path) =>
        transport.json('GET', file(session_id, path), { headers: { accept: 'application/json' } }),
      write: (session_id, path, content) => transport.json('PUT', file(session_id, path), { body: content }),
      delete: (session_id, path, { recursive = false } = {}) =>
        transport.json('DELETE', file(session_id, path), { query: { recursive } }),
    },
  };
};
