import type { CatalogEntry } from '@capstan/catalog';
import { hashText } from '@capstan/integrity';

const MAX_NAME = 63;
const HASH_LENGTH = 8;

/**
 * Tools under names that every client takes (letters, digits, `_`, `-`, 63 at most): the id with the other characters
 * replaced, `cap_test_math_add`. Ids that would share a name all end in a hash of their own, so a name never comes to mean
 * another tool than it did when a client read the list.
 */
export function mcpNames(entries: readonly CatalogEntry[]): Map<string, CatalogEntry> {
  const groups = new Map<string, CatalogEntry[]>();
  for (const entry of entries) {
    const name = plainName(entry.descriptor.tool_id);
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

const plainName = (tool_id: string): string => tool_id.replaceAll(/[^A-Za-z0-9_-]/g, '_');

const hashedName = (name: string, tool_id: string): string =>
  `${name.slice(0, MAX_NAME - HASH_LENGTH - 1)}_${hashText(tool_id).replace('sha256:', '').slice(0, HASH_LENGTH)}`;
