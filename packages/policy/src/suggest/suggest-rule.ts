import type { Descriptor, JsonObject } from '@capstan/contracts';
import { insteadOf } from './instead-of.js';
import {
  addToPolicy,
  domainsOf,
  entryOf,
  executablesOf,
  needsArguments,
  pathsOf,
  programsOf,
  toYaml,
} from './snippet.js';

/** Suggests a rule that allows this call and no more, if no rule mentions the tool. */
export function suggestRule(descriptor: Descriptor, inputs: JsonObject): string {
  const { tool_id } = descriptor;
  const instead = insteadOf(descriptor, inputs);
  if (instead !== null) return instead;
  switch (tool_id) {
    case 'shell.run':
      return addToPolicy(
        entryOf(tool_id, {
          allow_executables: or(programsOf(descriptor, inputs), 'echo'),
          ...(needsArguments(descriptor, inputs) ? { executables: executablesOf(descriptor, inputs) } : {}),
        }),
      );
    case 'fs.read':
    case 'fs.write': {
      const paths = or(pathsOf(descriptor, inputs), './**');
      return addToPolicy(
        entryOf(tool_id, { allow_paths: paths, ...(paths.some(isHidden) ? { allow_hidden: true } : {}) }),
      );
    }
    case 'http.get':
      return addToPolicy(entryOf(tool_id, domainsOf(descriptor, inputs) ?? { allow_domains: ['example.com'] }));
  }
  const domains = domainsOf(descriptor, inputs);
  // An entry of `tools` also passes the risk gate. Only native tools, which reach no other hosts than those named, may get one.
  if (mayDestroy(descriptor) && !(domains && descriptor.binding.kind === 'native'))
    return addToPolicy(ruleFor('hold', tool_id), consentToHold(descriptor));
  if (domains) return addToPolicy(entryOf(tool_id, domains), consent(descriptor, true));
  const rule = ruleFor('allow', tool_id);
  if (canConnect(descriptor))
    return addToPolicy(`${rule}\n${hostsOf(tool_id)}`, [NAME_HOSTS, consent(descriptor, false)].join(' ').trim());
  return addToPolicy(rule, consent(descriptor, false));
}

/** True if the program has sockets in its sandbox. An extension without the permission for network has none, whatever the policy allows. */
export const canConnect = ({ runner, binding, effects }: Descriptor): boolean =>
  runner === 'exec' && effects.network && (binding.kind !== 'command' || binding.permissions.includes('network'));

/** For an allowed program without network access. Only a person knows which hosts it needs. */
export const suggestHosts = ({ tool_id }: Descriptor): string =>
  `It runs without a network. Only if it needs one: ${addToPolicy(hostsOf(tool_id), NAME_HOSTS)}`;

/** A limit and not an entry of `tools`, because an entry would also pass the risk gate. */
const hostsOf = (tool_id: string): string =>
  `limits:\n  - match: { tool: ${toYaml(tool_id)} }\n    network: ["example.com"]`;

const NAME_HOSTS = 'Name the hosts that it needs instead of example.com: it reaches no others.';

const mayDestroy = ({ effects, risk }: Descriptor): boolean =>
  effects.destructive && (risk === 'HIGH' || risk === 'CRITICAL');

const consentToHold = ({ risk }: Descriptor): string =>
  risk === 'CRITICAL'
    ? 'A person then decides each call, because it may destroy something; its risk is CRITICAL, so that it also needs an approved specification (spec_frozen, spec_hash).'
    : 'A person then decides each call, because it may destroy something.';

const isHidden = (path: string): boolean => path.split('/').some((part) => /^\.[^.]/.test(part));

const or = (found: string[], example: string): string[] => (found.length > 0 ? found : [example]);
const ruleFor = (effect: 'allow' | 'hold', tool_id: string): string =>
  `rules:\n  - id: ${effect}-${slug(tool_id)}\n    effect: ${effect}\n    match: { tool: ${toYaml(tool_id)} }`;
const slug = (tool_id: string) => `${tool_id.replace(/[^a-z0-9]+/gi, '-').slice(0, 100)}`;

/** Describes what the risk gate will still require. */
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
