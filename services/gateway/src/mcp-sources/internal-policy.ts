import { MCP_DISCOVER } from '@capstan/catalog';
import { DEFAULT_TENANT, type EffectivePolicy, INTERNAL_POLICY, type Principal } from '@capstan/contracts';
import { compilePolicy, parsePolicy } from '@capstan/policy';
import type { Store } from '@capstan/store';
import { putPolicy } from '@capstan/store/policy';
import type { GatewayContext } from '../gateway-context.js';

/** The principal of the installation's own calls. They are visible to operators of the default tenant. No key belongs to it. */
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
  // Discovery also works on a machine without a sandbox. Calls of the tools themselves are decided separately.
  limits: [{ sandbox: 'preferred' }],
});

const DOCUMENT: EffectivePolicy = { ...TENANT, installation: { limits: [{ sandbox: 'preferred' }] } };
const POLICY = compilePolicy(DOCUMENT);
export const INTERNAL_POLICY_HASH = POLICY.policy_hash;

/** Stored like any other policy, so that the worker, which decides again, finds it by its hash. */
export const putInternalPolicy = (store: Store): Promise<unknown> =>
  putPolicy(store, INTERNAL, INTERNAL_POLICY, DOCUMENT);

/** The same gateway, with this policy for every tenant. */
export const underInternalPolicy = (gateway: GatewayContext): GatewayContext => ({
  ...gateway,
  policies: { ...gateway.policies, of: () => POLICY },
});
