import {
  isWildcard,
  matchesWildcard,
  type PolicyDocument,
  type PolicyMatch,
  type PolicyWarning,
  toolOfAlias,
} from '@capstan/contracts';

/** Names that match no tool: a restriction on them restricts nothing, unless such a tool is added later. */
export function findWarnings(document: PolicyDocument, tool_ids: readonly string[]): PolicyWarning[] {
  const { tools = {}, rules = [], limits = [] } = document;
  const known = new Set(tool_ids);
  const looked = new Map<string, boolean>();
  const isKnown = (name: string): boolean => {
    const id = toolOfAlias(name);
    const found =
      looked.get(id) ?? (known.has(id) || (isWildcard(id) && tool_ids.some((tool_id) => matchesWildcard(id, tool_id))));
    looked.set(id, found);
    return found;
  };
  const warn = (field: string, names: readonly string[]): PolicyWarning[] =>
    names.filter((name) => !isKnown(name)).map((name) => ({ field, message: `${name} matches no known tool` }));
  return [
    ...Object.keys(tools).flatMap((key) => warn('tools', [key])),
    ...rules.flatMap(({ match }, index) => warn(`rules.${index}.match.tool`, namesIn(match))),
    ...limits.flatMap(({ match }, index) => warn(`limits.${index}.match.tool`, namesIn(match))),
  ];
}

const namesIn = ({ tool = [] }: PolicyMatch = {}): string[] => (typeof tool === 'string' ? [tool] : tool);
