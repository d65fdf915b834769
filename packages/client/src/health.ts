import type { JsonObject } from '@capstan/contracts';
import { Unavailable } from './errors.js';
import type { Transport } from './transport.js';
import { UnreachableError } from './unreachable-error.js';

type Signal = { signal?: AbortSignal | undefined };

export type HealthChecks = {
  /** Checks that the process responds. */
  health(options?: Signal): Promise<JsonObject>;
  /** Checks that its dependencies respond too. */
  ready(options?: Signal): Promise<boolean>;
};

export const healthChecks = (transport: Transport): HealthChecks => ({
  health: (options = {}) => transport.json('GET', '/healthz', options),
  async ready(options = {}) {
    try {
      await transport.json('GET', '/readyz', options);
      return true;
    } catch (error) {
      if (error instanceof Unavailable && error.status === 503 && !(error instanceof UnreachableError)) return false;
      throw error;
    }
  },
});
