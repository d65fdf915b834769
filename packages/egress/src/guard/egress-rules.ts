import type { Limits } from '@capstan/contracts';

/** The network limits of a call. */
export type EgressRules = Pick<Limits, 'network' | 'deny_domains' | 'deny_private_ips'>;
