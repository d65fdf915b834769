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

/** The tools that Capsule's policies are about. What their entries do not allow is denied, also by an absent list. */
const CORE: Record<string, 'path' | 'url' | 'command'> = {
  'fs.read': 'path',
  'fs.write': 'path',
  'http.get': 'url',
  'shell.run': 'command',
};

export type ToolEntry = {
  /** As the document spells it. */
  key: string;
  /** It names this tool itself, and so allows it. One with a wildcard only constrains. */
  names_it: boolean;
  constraints: ToolConstraints;
  checks: Check[];
};

/**
 * What `tools` says of a tool: the entry of its own first, then those with wildcards. All of them are checked. The entries of
 * a ceiling take away and never give, so that what they do not mention is as the tenant has it.
 */
export function entriesFor({ tools = {} }: PolicyDocument, { tool_id, binding }: Descriptor, part: Part): ToolEntry[] {
  // What an action of an extension has done by a tool of ours may touch no more than that tool itself.
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

/** A list of what it may touch says more than how risky it is. */
export const hasAllowList = ({ constraints }: ToolEntry): boolean =>
  [
    constraints.allow_paths,
    constraints.allow_domains,
    constraints.allow_executables,
    Object.keys(constraints.executables ?? {}),
  ].some((list) => list !== undefined && list.length > 0);
