import {
  isWildcard,
  matchesWildcard,
  type PolicyDocument,
  type PolicyMatch,
  type PolicyRule,
  type PolicyWarning,
  toolOfAlias,
} from '@capstan/contracts';

/** Patterns such as `app:*` or `mcp:*` are about tools that may be added later, and contain no name that could be misspelled. */
const ALL_OF_A_SOURCE = /^(app|atip|cap|ext|mcp|openapi):\*$/;

/** Finds names that match no tool: a restriction on them has no effect unless such a tool is added later. */
export function findWarnings(document: PolicyDocument, tool_ids: readonly string[]): PolicyWarning[] {
  const { tools = {}, rules = [], limits = [] } = document;
  const known = new Set(tool_ids);
  const looked = new Map<string, boolean>();
  const isKnown = (name: string): boolean => {
    const id = toolOfAlias(name);
    const found =
      looked.get(id) ??
      (known.has(id) ||
        ALL_OF_A_SOURCE.test(id) ||
        (isWildcard(id) && tool_ids.some((tool_id) => matchesWildcard(id, tool_id))));
    looked.set(id, found);
    return found;
  };
  const warn = (field: string, names: readonly string[]): PolicyWarning[] =>
    names.filter((name) => !isKnown(name)).map((name) => ({ field, message: `${name} matches no known tool` }));
  return [
    ...Object.keys(tools).flatMap((key) => warn('tools', [key])),
    ...rules.flatMap(({ match }, index) => warn(`rules.${index}.match.tool`, namesIn(match))),
    ...rules.flatMap(({ accepts = [] }, index) => acceptsNothing(rules, accepts, `rules.${index}.accepts`)),
    ...limits.flatMap(({ match }, index) => warn(`limits.${index}.match.tool`, namesIn(match))),
  ];
}

const namesIn = ({ tool = [] }: PolicyMatch = {}): string[] => (typeof tool === 'string' ? [tool] : tool);

/** If a rule named in `accepts` was renamed, it holds again. That is safe, but the author of the policy should know. */
const acceptsNothing = (rules: readonly PolicyRule[], accepts: readonly string[], field: string): PolicyWarning[] =>
  accepts
    .filter((id) => !/^(risk|effects)\./.test(id) && !rules.some((rule) => rule.id === id && rule.effect === 'hold'))
    .map((id) => ({ field, message: `no rule ${id} holds anything` }));
