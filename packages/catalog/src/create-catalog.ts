import { type CatalogSource, type Descriptor, toolOfAlias } from '@capstan/contracts';
import { type CatalogEntry, toEntry } from './catalog-entry.js';
import { createSearch, type Search } from './search/create-search.js';
import { similarTo } from './search/similar-to.js';

/** All tools, as known to one process. Only `find` and `refresh` do I/O. */
export type Catalog = {
  get(tool_id: string): CatalogEntry | undefined;
  /** Like `get`, but refreshes once if no tool with this hash is known. */
  find(tool_id: string, descriptor_hash: string): Promise<CatalogEntry | undefined>;
  list(): CatalogEntry[];
  /** A disabled tool: known, but it cannot be called. */
  disabled(tool_id: string): CatalogEntry | undefined;
  listDisabled(): CatalogEntry[];
  /** Tools that match the words, best match first. */
  search(words: string): CatalogEntry[];
  /** Ids similar to a misspelled `tool_id`. */
  similar(tool_id: string): string[];
  sources(): CatalogSource[];
  /** Reloads all tools. Concurrent calls share one reload. */
  refresh(): Promise<void>;
};

/** A catalog of a fixed list of tools. */
export const createCatalog = (descriptors: Descriptor[]): Catalog =>
  catalogOf(descriptors.map((descriptor) => toEntry(descriptor)));

export function catalogOf(
  list: readonly CatalogEntry[],
  sources = toSources(list),
  disabled: readonly CatalogEntry[] = [],
): Catalog {
  const entries = new Map(list.map((entry) => [entry.descriptor.tool_id, entry]));
  const off = new Map(disabled.map((entry) => [entry.descriptor.tool_id, entry]));
  let search: Search | undefined;
  const get = (tool_id: string) => entries.get(tool_id) ?? entries.get(toolOfAlias(tool_id));
  return {
    get,
    find: (tool_id) => Promise.resolve(get(tool_id)),
    list: () => [...entries.values()],
    disabled: (tool_id) => off.get(tool_id),
    listDisabled: () => [...off.values()],
    search: (words) => {
      search ??= createSearch([...entries.values()]);
      return search(words);
    },
    similar: (tool_id) => similarTo(tool_id, [...entries.keys()]),
    sources: () => sources,
    refresh: () => Promise.resolve(),
  };
}

function toSources(list: readonly CatalogEntry[]): CatalogSource[] {
  const counted = new Map<string, CatalogSource>();
  for (const { descriptor } of list) {
    const { source, origin } = descriptor;
    const known = counted.get(`${source}:${origin}`);
    if (known) known.tools += 1;
    else counted.set(`${source}:${origin}`, { source, origin, status: 'ok', tools: 1, error: null });
  }
  return [...counted.values()];
}
