import { type CatalogEntry, toEntry } from '@capstan/catalog';
import { Failure, type Pool } from '@capstan/contracts';
import type { Store } from '@capstan/store';
import { readPoolVersions, servedVersions } from '@capstan/store/pool';

/** The tools of one version of a pool, by their ids. */
export type VersionTools = { version: string; entries: ReadonlyMap<string, CatalogEntry> };

export type PoolVersions = {
  /** The latest version by default. */
  find(pool: Pool, version: string | undefined): Promise<VersionTools>;
  /** True if a live worker of the pool serves the tool with exactly this hash. */
  isServed(pool: Pool, tool_id: string, descriptor_hash: string): Promise<boolean>;
  /** Call it after a version was put. */
  forget(pool: Pool): void;
};

const KEEP_MS = 1000;

type Known = { at: number; versions: Promise<VersionTools[]>; served: Promise<string[]> };

/** Caches the versions of each pool for a second. Compiled schemas are kept for as long as their descriptor does not change. */
export function createPoolVersions({ db }: Store): PoolVersions {
  const known = new Map<Pool, Known>();
  const compiled = new Map<string, CatalogEntry>();
  const read = async (pool: Pool): Promise<VersionTools[]> =>
    (await readPoolVersions(db, pool)).map(({ version, descriptors }) => ({
      version,
      entries: new Map(
        descriptors.map((descriptor) => {
          const fresh = toEntry(descriptor);
          const entry = compiled.get(fresh.descriptor_hash) ?? fresh;
          compiled.set(entry.descriptor_hash, entry);
          return [descriptor.tool_id, entry];
        }),
      ),
    }));
  const look = (pool: Pool): Known => {
    const before = known.get(pool);
    if (before && performance.now() - before.at < KEEP_MS) return before;
    const now = { at: performance.now(), versions: read(pool), served: servedVersions(db, pool) };
    const forget = () => known.delete(pool);
    now.versions.catch(forget);
    now.served.catch(forget);
    known.set(pool, now);
    return now;
  };
  const find = (all: VersionTools[], version: string | undefined) =>
    version === undefined ? all[0] : all.find((one) => one.version === version);
  return {
    find: async (pool, version) => {
      let found = find(await look(pool).versions, version);
      if (!found) {
        known.delete(pool);
        found = find(await look(pool).versions, version);
      }
      if (found) return found;
      throw new Failure('NOT_FOUND', {
        detail:
          version === undefined ? `The pool ${pool} has no tools.` : `The pool ${pool} has no version ${version}.`,
        suggestion: `Declare its tools first: PUT /v1/pools/${pool}/tools.`,
      });
    },
    isServed: async (pool, tool_id, descriptor_hash) => {
      const { versions, served } = look(pool);
      const live = await served;
      return (await versions).some(
        ({ version, entries }) => live.includes(version) && entries.get(tool_id)?.descriptor_hash === descriptor_hash,
      );
    },
    forget: (pool) => known.delete(pool),
  };
}
