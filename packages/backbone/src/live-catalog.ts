import { BUILTIN_TOOLS, type Catalog, type CatalogEntry, catalogOf, toEntry } from '@capstan/catalog';
import { type CatalogSource, Descriptor, issueText } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import type { Relay } from '@capstan/queue';
import type { Store } from '@capstan/store';
import { keepDescriptors } from '@capstan/store/record';
import { readTools, type ToolRow } from '@capstan/store/tool';
import { keepFresh } from './keep-fresh.js';

/** A catalog that stays current until it is closed. */
export type LiveCatalog = Catalog & { close(): void };

const REFRESH_MS = 60_000;
const MAX_MISSED = 1000;

const NATIVE = BUILTIN_TOOLS.map((descriptor) => toEntry(descriptor));

/**
 * Native tools and the rows of `tools` as a snapshot in memory, so lookups never wait for Postgres. If a refresh fails, the last
 * snapshot stays.
 */
export async function openCatalog(store: Store, relay: Relay): Promise<LiveCatalog> {
  let current = catalogOf(NATIVE);
  /** Hashes of descriptors that are already stored. Records refer to a descriptor by its hash, even after the tool has changed. */
  const kept = new Set<string>();
  const keep = async (entries: readonly CatalogEntry[]): Promise<void> => {
    const fresh = entries.filter(({ descriptor_hash }) => !kept.has(descriptor_hash));
    await keepDescriptors(store.db, fresh);
    for (const { descriptor_hash } of fresh) kept.add(descriptor_hash);
  };
  const look = async () => {
    current = snapshot(await readTools(store), current);
    await keep([...current.list(), ...current.listDisabled()]);
  };
  const refresh = shared(look);
  // If Postgres is unavailable, start with the native tools rather than not at all.
  const close = await keepFresh(relay, { signals: ['tools'], every_ms: REFRESH_MS }, refresh);
  /** Descriptors that a refresh did not find, so that a tool that changed after admission does not cause a refresh for each of its calls. */
  const missed = new Set<string>();
  return {
    get: (tool_id) => current.get(tool_id),
    find: async (tool_id, descriptor_hash) => {
      const wanted = `${tool_id} ${descriptor_hash}`;
      if (missed.has(wanted)) return current.get(tool_id);
      await refresh();
      const found = current.get(tool_id);
      if (missed.size >= MAX_MISSED) missed.clear();
      if (found && found.descriptor_hash !== descriptor_hash) missed.add(wanted);
      return found;
    },
    list: () => current.list(),
    disabled: (tool_id) => current.disabled(tool_id),
    listDisabled: () => current.listDisabled(),
    search: (words) => current.search(words),
    similar: (tool_id) => current.similar(tool_id),
    sources: () => current.sources(),
    refresh,
    close,
  };
}

/**
 * One refresh at a time. Requests during a refresh share the next one, because the current one may have started before the
 * change they want to see.
 */
function shared(look: () => Promise<void>): () => Promise<void> {
  let current: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const start = (): Promise<void> => {
    current = look().finally(() => {
      current = null;
    });
    return current;
  };
  return () => {
    if (next) return next;
    if (!current) return start();
    next = current
      .catch(() => {})
      .then(() => {
        next = null;
        return start();
      });
    return next;
  };
}

function snapshot(rows: ToolRow[], before: Catalog): Catalog {
  const entries: CatalogEntry[] = [...NATIVE];
  const disabled: CatalogEntry[] = [];
  const sources = new Map(
    catalogOf(NATIVE)
      .sources()
      .map((source) => [`${source.source}:${source.origin}`, source]),
  );
  for (const row of rows) {
    if (!row.enabled) {
      const entry = read(row, before);
      if (typeof entry !== 'string') disabled.push(entry);
      continue;
    }
    const source = sourceOf(row, sources);
    const entry = read(row, before);
    if (typeof entry === 'string') Object.assign(source, { status: 'error', error: `${row.tool_id}: ${entry}` });
    else {
      entries.push(entry);
      source.tools += 1;
    }
  }
  return catalogOf(entries, [...sources.values()], disabled);
}

function sourceOf({ source, origin }: ToolRow, sources: Map<string, CatalogSource>): CatalogSource {
  const known = sources.get(`${source}:${origin}`);
  if (known) return known;
  const found: CatalogSource = { source, origin, status: 'ok', tools: 0, error: null };
  sources.set(`${source}:${origin}`, found);
  return found;
}

/** The entry, or why the row is invalid. An unchanged row keeps its compiled schema. */
function read(row: ToolRow, before: Catalog): CatalogEntry | string {
  const known = before.get(row.tool_id) ?? before.disabled(row.tool_id);
  if (known?.descriptor_hash === row.descriptor_hash) return known;
  if (NATIVE.some(({ descriptor }) => descriptor.tool_id === row.tool_id)) return 'is the id of a native tool';
  const parsed = Descriptor.safeParse(row.descriptor);
  if (!parsed.success)
    return parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issueText(issue)}`).join('; ');
  if (parsed.data.tool_id !== row.tool_id) return 'its descriptor is that of another tool';
  if (hashJson(row.descriptor) !== row.descriptor_hash) return 'its descriptor is not the one that was stored';
  return toEntry(parsed.data, row.descriptor_hash);
}
