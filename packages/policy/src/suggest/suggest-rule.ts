import type { Descriptor, JsonObject } from '@capstan/contracts';
import { addToPolicy, domainsOf, entryOf, pathsOf, programEntry, programsOf, toYaml } from './snippet.js';

/** Nothing speaks of the tool: what would allow this call, and no more than that. */
export function suggestRule(descriptor: Descriptor, inputs: JsonObject): string {
  const { tool_id } = descriptor;
  switch (tool_id) {
    case 'shell.run':
      return addToPolicy(programEntry(descriptor, inputs, or(programsOf(descriptor, inputs), 'echo')));
    case 'fs.read':
    case 'fs.write':
      return addToPolicy(entryOf(tool_id, { allow_paths: or(pathsOf(descriptor, inputs), './**') }));
    case 'http.get':
      return addToPolicy(entryOf(tool_id, domainsOf(descriptor, inputs) ?? { allow_domains: ['example.com'] }));
  }
  const domains = domainsOf(descriptor, inputs);
  if (domains) return addToPolicy(entryOf(tool_id, domains), consent(descriptor, true));
  const rule = `rules:\n  - id: ${ruleId(tool_id)}\n    effect: allow\n    match: { tool: ${toYaml(tool_id)} }`;
  if (canConnect(descriptor))
    return addToPolicy(`${rule}\n${hostsOf(tool_id)}`, [NAME_HOSTS, consent(descriptor, false)].join(' ').trim());
  return addToPolicy(rule, consent(descriptor, false));
}

/** A program that has sockets in its sandbox: an extension that asks for no network has none, whatever a policy says. */
export const canConnect = ({ runner, binding, effects }: Descriptor): boolean =>
  runner === 'exec' && effects.network && (binding.kind !== 'command' || binding.permissions.includes('network'));

/** For a program that is allowed and reaches nothing: where it may connect to is what only a person knows. */
export const suggestHosts = ({ tool_id }: Descriptor): string => addToPolicy(hostsOf(tool_id), NAME_HOSTS);

/** A limit, and no entry of `tools`: that would also take it past the gate of its risk. */
const hostsOf = (tool_id: string): string =>
  `limits:\n  - match: { tool: ${toYaml(tool_id)} }\n    network: ["example.com"]`;

const NAME_HOSTS = 'Name the hosts that it needs instead of example.com: it reaches no others.';

const or = (found: string[], example: string): string[] => (found.length > 0 ? found : [example]);
const ruleId = (tool_id: string) => `allow-${tool_id.replace(/[^a-z0-9]+/gi, '-').slice(0, 100)}`;

/** What the gate of its risk will still ask for. */
function consent({ risk }: Descriptor, is_listed: boolean): string | undefined {
  switch (risk) {
    case 'HIGH':
      return is_listed
        ? undefined
        : 'Its risk is HIGH, so that each call then waits for a person, unless that rule also says risk_max: HIGH.';
    case 'CRITICAL':
      return 'Its risk is CRITICAL: a call then needs an approved specification (spec_frozen, spec_hash) and an admin who releases it, unless that rule also says risk_max: CRITICAL.';
    default:
      return undefined;
  }
}
