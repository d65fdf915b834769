import { Failure } from '@capstan/contracts';
import { type EgressRules, type Resolve, refusalOf, systemResolve, urlRefusal } from '@capstan/egress';

/** Refuses invalid webhook addresses when they are configured, rather than when a delivery fails. */
export type WebhookAddresses = {
  /** Rules under which any delivery would be possible. */
  rules: EgressRules;
  /** Without DNS lookups, because it runs for every submission. */
  check(url: string | undefined, field: string): void;
  /** Also resolves the name. A name that cannot be resolved is accepted, because it may be resolvable later. */
  checkResolved(url: string, field: string): Promise<void>;
};

export function createWebhookAddresses(allow_private: boolean, resolve: Resolve = systemResolve): WebhookAddresses {
  // The same rules as those of the coordinator.
  const rules: EgressRules = { deny_private_ips: !allow_private };
  return {
    rules,
    check: (url, field) => {
      const reason = url === undefined ? null : urlRefusal(url, rules);
      if (reason !== null) throw refused(field, reason);
    },
    checkResolved: async (url, field) => {
      // Mail goes through the configured mail server.
      if (/^mailto:/i.test(url)) return;
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
