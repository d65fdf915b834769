import type { LoginOptions, Whoami } from '@capstan/contracts';
import type { Transport } from './transport.js';

export type Logins = {
  /** Whom the key or token belongs to, and what they may do. */
  whoami(): Promise<Whoami>;
  /** The ways to log in to the console. */
  loginOptions(): Promise<LoginOptions>;
};

export const logins = (transport: Transport): Logins => ({
  whoami: () => transport.json('GET', '/v1/whoami'),
  loginOptions: () => transport.json('GET', '/v1/login/options'),
});
