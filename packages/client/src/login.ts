import type { ActiveLogin, LoginOptions, Whoami } from '@capstan/contracts';
import { listFrom } from './list-from.js';
import type { Listing, PageOptions } from './listing.js';
import type { Transport } from './transport.js';

export type Logins = {
  /** The owner of the key or token, and their roles. */
  whoami(): Promise<Whoami>;
  /** The ways to log in to the console. */
  loginOptions(): Promise<LoginOptions>;
  logins: {
    /** Lists logins to the console: one's own or, for an admin, those of the whole tenant. */
    list(options?: PageOptions): Listing<ActiveLogin>;
    end(login_id: string): Promise<void>;
  };
};

export const logins = (transport: Transport): Logins => ({
  whoami: () => transport.json('GET', '/v1/whoami'),
  loginOptions: () => transport.json('GET', '/v1/login/options'),
  logins: {
    list: (options = {}) => listFrom(transport, '/v1/logins', { ...options }),
    end: (login_id) => transport.json('DELETE', `/v1/logins/${encodeURIComponent(login_id)}`),
  },
});
