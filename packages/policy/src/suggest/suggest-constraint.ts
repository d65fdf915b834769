import type { Descriptor, JsonObject, ToolConstraints } from '@capstan/contracts';
import { methodOf } from '../constraint/read-inputs.js';
import type { Part } from '../request.js';
import { insteadOf } from './instead-of.js';
import { addToPolicy, domainsOf, entryOf, executablesOf, pathsOf, programsOf, toYaml } from './snippet.js';

const BESIDE = 'Existing entries of that list stay.';

/** Suggests how to change the constraint that refused a call. `rule` is spelled as in `deny_paths[**\/.env]`. */
export function suggestConstraint(descriptor: Descriptor, inputs: JsonObject, rule: string, part: Part): string {
  const { tool_id } = descriptor;
  const [, name = rule, value = ''] = /^([a-z_]+)(?:\[(.*)\]|=.*)?$/s.exec(rule) ?? [];
  const entry = (constraints: ToolConstraints, note?: string) => addToPolicy(entryOf(tool_id, constraints), note, part);
  const takeOut = (list: string) =>
    `Take ${toYaml(value)} out of ${list} in the entry of ${tool_id} under tools in the policy, if this call should be allowed.`;
  const instead = insteadOf(descriptor, inputs);
  if (instead !== null) return instead;
  switch (name) {
    case 'allow_paths':
      return entry({ allow_paths: pathsOf(descriptor, inputs) }, BESIDE);
    case 'allow_domains':
      return entry(domainsOf(descriptor, inputs) ?? {}, BESIDE);
    case 'allow_executables':
      return entry({ allow_executables: programsOf(descriptor, inputs) }, BESIDE);
    case 'executables':
      return entry({ executables: executablesOf(descriptor, inputs) }, BESIDE);
    case 'allow_methods':
      return entry({ allow_methods: [methodOf(descriptor, inputs)] }, BESIDE);
    case 'allow_hidden':
      return entry({ allow_hidden: true });
    case 'deny_private_ips':
      return entry({ deny_private_ips: false });
    case 'deny_paths':
    case 'deny_domains':
    case 'deny_tokens':
      return takeOut(name);
    case 'max_size_bytes':
    case 'max_response_bytes':
      return `Send or fetch less, or raise ${name} in the entry of ${tool_id} under tools in the policy.`;
    case 'network':
      return `Add ${toYaml(domainsOf(descriptor, inputs)?.allow_domains ?? [])} to network in the limits of the policy that apply to ${tool_id}, or take that limit out.`;
    case 'path_traversal':
      return 'Name the file by its path inside the workspace, without .. and without ~.';
    default:
      return 'Correct the inputs of the call; the reason says what is wrong with them.';
  }
}
