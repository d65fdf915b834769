import type { CatalogEntry } from '@capstan/catalog';
import { hashText } from '@capstan/integrity';

const MAX_NAME = 63;
const HASH_LENGTH = 8;

/**
 * Tools under names that every client takes (letters, digits, `_`, `-`, 63 at most): the id with the other characters
 * replaced, `cap_test_math_add`. Ids that would share a name all end in a hash of their own, so a name never comes to mean
 * another tool than it did when a client read the list. `plain`: tools of MCP servers under their own names, where no two
 * have the same.
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

const plainName = (tool_id: string): string => tool_id.replaceAll(/[^A-Za-z0-9_-]/g, '_');

const hashedName = (name: string, tool_id: string): string =>
  `${name.slice(0, MAX_NAME - HASH_LENGTH - 1)}_${hashText(tool_id).replace('sha256:', '').slice(0, HASH_LENGTH)}`;
