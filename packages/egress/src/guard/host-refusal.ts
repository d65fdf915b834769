import { isDeniedAddress, isMetadataAddress } from '../address/is-denied-address.js';
import type { EgressRules } from './egress-rules.js';
import { matchesDomain } from './matches-domain.js';

/** Returns why the rules refuse a host before it is resolved, or null. Pure. */
export function hostRefusal(host: string, rules: EgressRules): string | null {
  const { network, deny_domains = [] } = rules;
  if (network === 'none') return 'the network is closed to this call';
  const denied = deny_domains.find((pattern) => matchesDomain(host, pattern));
  if (denied !== undefined) return `${host} is in deny_domains (${denied})`;
  if (network && !network.some((pattern) => matchesDomain(host, pattern)))
    return `${host} is not among the domains of this call`;
  return addressRefusal(host, rules);
}

/** Returns the rule behind a refusal, by its name in policies. */
export function refusingRule(host: string, { network, deny_domains = [] }: EgressRules): string {
  if (network === 'none') return 'network=none';
  const denied = deny_domains.find((pattern) => matchesDomain(host, pattern));
  if (denied !== undefined) return `deny_domains[${denied}]`;
  return network && !network.some((pattern) => matchesDomain(host, pattern)) ? 'network' : PRIVATE;
}
export const PRIVATE = 'deny_private_ips=true';

/** Like `hostRefusal`, for an address that a name was resolved to. Domain lists do not apply to addresses. */
export const addressRefusal = (address: string, { deny_private_ips = true }: EgressRules): string | null =>
  deny_private_ips ? isDeniedAddress(address) : isMetadataAddress(address);
