import {
  type Descriptor,
  isWildcard,
  matchesWildcard,
  type PolicyDocument,
  type ToolConstraints,
  toolOfAlias,
} from '@capstan/contracts';
import type { Part } from '../request.js';
import { checkCommand } from './check-command.js';
import { checkPaths } from './check-paths.js';
import { checkDomains } from './check-urls.js';
import type { Check } from './constraint.js';

/** The core tools of Capsule's policies. For these, anything that the entry does not allow is denied, even if the list is missing. */
const CORE: Record<string, 'path' | 'url' | 'command'> = {
  'fs.read': 'path',
  'fs.write': 'path',
  'http.get': 'url',
  'shell.run': 'command',
};

export type ToolEntry = {
  /** The key as spelled in the document. */
  key: string;
  /** True if it names this very tool and so allows it. An entry with a wildcard only constrains. */
  names_it: boolean;
  constraints: ToolConstraints;
  checks: Check[];
};

/**
 * The entries of `tools` that apply to a tool: its own first, then those with wildcards. All are checked. Entries of the installation only restrict,
 * so anything that they do not mention is left to the tenant's policy.
 */
export function entriesFor({ tools = {} }: PolicyDocument, { tool_id, binding }: Descriptor, part: Part): ToolEntry[] {
  // An extension action that runs one of the native tools may not do more than that tool.
  const done_by = binding.kind === 'action' ? binding.action : null;
  return Object.entries(tools)
    .filter(([key]) => {
      const named = toolOfAlias(key);
      return matchesWildcard(named, tool_id) || (done_by !== null && matchesWildcard(named, done_by));
    })
    .map(([key, constraints]) => toEntry(key, tool_id, constraints, part))
    .sort((one, other) => Number(other.names_it) - Number(one.names_it));
}

function toEntry(key: string, tool_id: string, constraints: ToolConstraints, part: Part): ToolEntry {
  const names_it = part === 'tenant' && !isWildcard(key) && toolOfAlias(key) === tool_id;
  const core = names_it && Object.hasOwn(CORE, tool_id) ? CORE[tool_id] : undefined;
  const checks = [
    checkPaths(constraints, { required: core === 'path' }),
    checkDomains(constraints, { required: core === 'url' }),
    checkCommand(constraints, { required: core === 'command' }),
  ];
  return { key, names_it, constraints, checks: checks.filter((check) => check !== null) };
}

/** True if the entry lists what the tool may access. */
export const hasAllowList = ({ constraints }: ToolEntry): boolean =>
  [
    constraints.allow_paths,
    constraints.allow_domains,
    constraints.allow_executables,
    Object.keys(constraints.executables ?? {}),
  ].some((list) => list !== undefined && list.length > 0);
