import type { CatalogEntry } from '@capstan/catalog';
import { hashText } from '@capstan/integrity';

const MAX_NAME = 63;
const HASH_LENGTH = 8;

/**
 * Tools by names that every client accepts (letters, digits, `_`, `-`, at most 63): the id with all other characters replaced, such
 * as `cap_test_math_add`. Ids that would share a name each get a hash at the end, so a name never comes to mean another tool than
 * when a client read the list. `plain`: tools of MCP servers keep their own names if those are unique.
 */
export function mcpNames(entries: readonly CatalogEntry[], plain = false): Map<string, CatalogEntry> {
  const groups = new Map<string, CatalogEntry[]>();
  const own = plain ? ownNames(entries) : new Map<string, number>();
  for (const entry of entries) {
    const { tool_id, name: given, source } = entry.descriptor;
    const name = plainName(source === 'mcp' && own.get(given) === 1 ? given : tool_id);
    groups.set(name, [...(groups.get(name) ?? []), entry]);
  }
  return new Map(
    [...groups].flatMap(([name, group]) =>
      group.map((entry): [string, CatalogEntry] => [
        group.length === 1 && name.length <= MAX_NAME ? name : hashedName(name, entry.descriptor.tool_id),
        entry,
      ]),
    ),
  );
}

function ownNames(entries: readonly CatalogEntry[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { descriptor } of entries)
    if (descriptor.source === 'mcp') counts.set(descriptor.name, (counts.get(descriptor.name) ?? 0) + 1);
  return counts;
}

/** Whether the name at an endpoint of Capstan is that of a tool which an installation has from its server of this name. */
export const cameFrom = (server: string, name: string): boolean => name.includes(plainName(`mcp:${server}:`));

const plainName = (tool_id: string): string => tool_id.replaceAll(/[^A-Za-z0-9_-]/g, '_');

const hashedName = (name: string, tool_id: string): string =>
  `${name.slice(0, MAX_NAME - HASH_LENGTH - 1)}_${hashText(tool_id).replace('sha256:', '').slice(0, HASH_LENGTH)}`;
