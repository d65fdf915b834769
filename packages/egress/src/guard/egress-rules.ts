import type { Limits } from '@capstan/contracts';

/** Where connections of one call may go: the part of its limits that concerns the network. */
export type EgressRules = Pick<Limits, 'network' | 'deny_domains' | 'deny_private_ips'>;
