import type { CatalogEntry } from '@capstan/catalog';
import type { Decision, Descriptor, Principal } from '@capstan/contracts';
import type { CompiledPolicy } from '@capstan/policy';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { GatewayContext } from '../gateway-context.js';
import { mcpNames } from './mcp-names.js';

/** Denials that other inputs might not get: a condition or a constraint had none to look at. */
const BY_INPUTS: ReadonlySet<string | null> = new Set(['RULE_ERROR', 'CONSTRAINT']);

/** Every tool that this key may use, at once or after a person has agreed. */
export function listTools({ catalog, policies }: GatewayContext, principal: Principal): Tool[] {
  const policy = policies.of(principal.tenant);
  return [...mcpNames(catalog.list())].flatMap(([name, entry]) => {
    const decision = decideListing(policy, principal, entry);
    const usable = decision.effect !== 'deny' || (BY_INPUTS.has(decision.code) && policy.readsInputs(entry.descriptor));
    return usable && entry.unavailable() === null ? [toTool(name, entry, decision)] : [];
  });
}

const decideListing = (policy: CompiledPolicy, { actor, roles, tenant }: Principal, { descriptor }: CatalogEntry) =>
  policy.decide({
    descriptor,
    inputs: {},
    mode: 'execution',
    actor: { name: actor, roles, tenant },
    labels: {},
    session_id: null,
  });

/** No output schema: what a held or failed call answers would not fit it. */
const toTool = (name: string, { descriptor }: CatalogEntry, decision: Decision): Tool => ({
  name,
  title: descriptor.tool_id,
  description:
    decision.effect === 'hold' ? `${descriptor.description} (held until a person agrees)` : descriptor.description,
  inputSchema: { ...descriptor.input_schema, type: 'object' },
  annotations: hintsOf(descriptor),
  execution: { taskSupport: 'optional' },
  _meta: { 'capstan/tool_id': descriptor.tool_id, 'capstan/risk': descriptor.risk, 'capstan/trust': descriptor.trust },
});

const hintsOf = ({ effects }: Descriptor): NonNullable<Tool['annotations']> => ({
  readOnlyHint: !(effects.destructive || effects.filesystem.write || effects.filesystem.delete || effects.billable),
  destructiveHint: effects.destructive,
  idempotentHint: effects.idempotent,
  openWorldHint: effects.network,
});
