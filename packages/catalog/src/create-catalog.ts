import { type CatalogSource, type Descriptor, toolOfAlias } from '@capstan/contracts';
import { type CatalogEntry, toEntry } from './catalog-entry.js';
import { createSearch, type Search } from './search/create-search.js';
import { similarTo } from './search/similar-to.js';

/** All tools, as one process knows them. Nothing but `find` and `refresh` does any I/O. */
export type Catalog = {
  get(tool_id: string): CatalogEntry | undefined;
  /** The same; when that tool is not known with that hash, it is looked for once more. */
  find(tool_id: string, descriptor_hash: string): Promise<CatalogEntry | undefined>;
  list(): CatalogEntry[];
  /** A tool that is switched off: known, and not to be called. */
  disabled(tool_id: string): CatalogEntry | undefined;
  listDisabled(): CatalogEntry[];
  /** What matches the words, the best first. */
  search(words: string): CatalogEntry[];
  /** Ids that somebody who typed `tool_id` may have meant. */
  similar(tool_id: string): string[];
  sources(): CatalogSource[];
  /** Looks again at what there is now. Concurrent calls share one look. */
  refresh(): Promise<void>;
};

/** A catalog of these tools, for ever. */
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
