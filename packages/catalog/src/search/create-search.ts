import MiniSearch from 'minisearch';
import type { CatalogEntry } from '../catalog-entry.js';

export type Search = (words: string) => CatalogEntry[];

/** Every run of letters or digits is a word. A whole id can be searched for, too. */
const tokenize = (text: string): string[] => text.split(/[^\p{L}\p{N}]+/u).filter(Boolean);

export function createSearch(entries: readonly CatalogEntry[]): Search {
  const index = new MiniSearch<{ id: number; name: string; tool_id: string; description: string }>({
    fields: ['name', 'tool_id', 'description'],
    tokenize,
    searchOptions: {
      boost: { name: 3, tool_id: 2 },
      prefix: true,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      combineWith: 'AND',
    },
  });
  index.addAll(
    entries.map(({ descriptor: { name, tool_id, description } }, id) => ({ id, name, tool_id, description })),
  );
  return (words) => {
    const found = index.search(words);
    // Partial matches are better than none.
    const hits = found.length > 0 ? found : index.search(words, { combineWith: 'OR' });
    return hits.flatMap(({ id }) => entries[id] ?? []);
  };
}
