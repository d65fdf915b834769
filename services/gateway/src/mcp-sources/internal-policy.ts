import { MCP_DISCOVER } from '@capstan/catalog';
import { DEFAULT_TENANT, type EffectivePolicy, INTERNAL_POLICY, type Principal } from '@capstan/contracts';
import { compilePolicy, parsePolicy } from '@capstan/policy';
import { putPolicy, type Store } from '@capstan/store';
import type { GatewayContext } from '../gateway-context.js';

/** What the installation itself calls, for the operators of the default tenant to see. No key belongs to it. */
export const INTERNAL: Principal = { key_id: '', tenant: DEFAULT_TENANT, actor: 'capstan', roles: ['submit'] };

const TENANT = parsePolicy({
  version: '1.0',
  boundary: 'deny_by_default',
  rules: [
    {
      id: 'mcp-discovery',
      effect: 'allow',
      match: { tool: MCP_DISCOVER, actor: INTERNAL.actor },
      reason: 'the installation looks at a server that an operator registered',
    },
  ],
  // A machine without a sandbox can still be told what a server offers; its tools have their own say.
  limits: [{ sandbox: 'preferred' }],
});

const DOCUMENT: EffectivePolicy = { ...TENANT, installation: { limits: [{ sandbox: 'preferred' }] } };
const POLICY = compilePolicy(DOCUMENT);
export const INTERNAL_POLICY_HASH = POLICY.policy_hash;

/** Stored like any other, so that the worker that decides again finds it by its hash. */
export const putInternalPolicy = (store: Store): Promise<unknown> =>
  putPolicy(store, INTERNAL, INTERNAL_POLICY, DOCUMENT);

/** The same gateway, in which this policy is the only one. */
export const underInternalPolicy = (gateway: GatewayContext): GatewayContext => ({
  ...gateway,
  policies: { ...gateway.policies, of: () => POLICY },
});
