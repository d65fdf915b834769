import { Failure } from '@capstan/contracts';
import { type EgressRules, type Resolve, refusalOf, systemResolve, urlRefusal } from '@capstan/egress';

/** Refuses addresses that no delivery would be sent to, when they are given rather than when they are used. */
export type WebhookAddresses = {
  /** Without asking a resolver: for the path of every submission. */
  check(url: string | undefined, field: string): void;
  /** Resolves the name as well. One that cannot be resolved now is taken: it may be by the time something is sent. */
  checkResolved(url: string, field: string): Promise<void>;
};

export function createWebhookAddresses(allow_private: boolean, resolve: Resolve = systemResolve): WebhookAddresses {
  // As the coordinator sends.
  const rules: EgressRules = { deny_private_ips: !allow_private };
  return {
    check: (url, field) => {
      const reason = url === undefined ? null : urlRefusal(url, rules);
      if (reason !== null) throw refused(field, reason);
    },
    checkResolved: async (url, field) => {
      const reason = await refusalOf(url, rules, resolve);
      if (reason !== null) throw refused(field, reason);
    },
  };
}

const refused = (field: string, reason: string): Failure => {
  const message = `no webhook is sent to this address: ${reason}`;
  return new Failure('INVALID_REQUEST', {
    detail: `${field}: ${message}`,
    suggestion: 'Give a public address, or set CAPSTAN_WEBHOOK_ALLOW_PRIVATE on the gateway and the coordinator.',
    context: { errors: [{ field, message }] },
  });
};
