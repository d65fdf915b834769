import { EMPTY_ROOT, HASH_BYTES, hashesIn, nodeHash, TILE_LEVELS, TILE_WIDTH } from './merkle-tree.js';

/** Reads the hashes of a tile, which may be incomplete. Tiles of level 0 contain leaf hashes. */
export type ReadTile = (level: number, index: number) => Promise<Uint8Array>;

/** A tree that reads its hashes tile by tile and caches computed hashes, so that many proofs cost little more than one. */
export type Tree = {
  /** Proves that leaf `index` is part of the tree of `size` leaves (RFC 6962, 2.1.1). */
  inclusionProof(index: number, size: number): Promise<Buffer[]>;
  /** Proves that the tree of `to` leaves begins with the tree of `from` leaves (RFC 6962, 2.1.2). */
  consistencyProof(from: number, to: number): Promise<Buffer[]>;
  /** The root of the first `size` leaves. */
  root(size: number): Promise<Buffer>;
};

const MAX_KEPT = 100_000;

export function createTree(read: ReadTile): Tree {
  const kept = new Map<string, Buffer>();

  /** The root of full subtree number `index` of 2^level leaves, from the tile that contains it. */
  const subtree = async (level: number, index: number): Promise<Buffer> => {
    const name = `${level} ${index}`;
    const known = kept.get(name);
    if (known) return known;
    if (level % TILE_LEVELS === 0) await keepTile(level, Math.floor(index / TILE_WIDTH));
    else kept.set(name, nodeHash(await subtree(level - 1, 2 * index), await subtree(level - 1, 2 * index + 1)));
    const hash = kept.get(name);
    if (!hash) throw new Error(`the log has no hash ${index} at level ${level}`);
    return hash;
  };

  const keepTile = async (level: number, tile: number): Promise<void> => {
    if (kept.size > MAX_KEPT) kept.clear();
    const hashes = hashesIn(await read(level / TILE_LEVELS, tile));
    for (const [at, hash] of hashes.entries()) kept.set(`${level} ${tile * TILE_WIDTH + at}`, hash);
  };

  /** The root of the leaves from `low` up to `high`, which must be a range that RFC 6962 divides a tree into. */
  const range = async (low: number, high: number): Promise<Buffer> => {
    const count = high - low;
    const half = split(count);
    if (count === 1 || half * 2 === count) return subtree(Math.log2(count), low / count);
    return nodeHash(await range(low, low + half), await range(low + half, high));
  };

  return {
    inclusionProof: async (index, size) => {
      if (index < 0 || index >= size) throw new RangeError(`there is no leaf ${index} among ${size}`);
      const path: Buffer[] = [];
      let [low, high] = [0, size];
      while (high - low > 1) {
        const middle = low + split(high - low);
        if (index < middle) {
          path.unshift(await range(middle, high));
          high = middle;
        } else {
          path.unshift(await range(low, middle));
          low = middle;
        }
      }
      return path;
    },
    consistencyProof: async (from, to) => {
      if (from < 0 || from > to) throw new RangeError(`a log of ${to} entries cannot begin with ${from} entries`);
      if (from === 0 || from === to) return [];
      const path: Buffer[] = [];
      let [low, high, whole] = [0, to, true];
      while (from !== high) {
        const middle = low + split(high - low);
        if (from <= middle) {
          path.unshift(await range(middle, high));
          high = middle;
        } else {
          path.unshift(await range(low, middle));
          low = middle;
          whole = false;
        }
      }
      if (!whole) path.unshift(await range(low, high));
      return path;
    },
    root: async (size) => (size === 0 ? EMPTY_ROOT : range(0, size)),
  };
}

/** Computes the root from an inclusion proof. Returns undefined if the proof does not fit a tree of this size. */
export function rootByInclusion(
  leaf: Buffer,
  index: number,
  size: number,
  proof: readonly Buffer[],
): Buffer | undefined {
  if (index < 0 || index >= size) return undefined;
  let [at, last, hash, used] = [index, size - 1, leaf, 0];
  for (const sibling of proof) {
    if (last === 0 || sibling.length !== HASH_BYTES) return undefined;
    if (at % 2 === 1 || at === last) {
      hash = nodeHash(sibling, hash);
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)];
    } else hash = nodeHash(hash, sibling);
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
    used += 1;
  }
  return last === 0 && used === proof.length ? hash : undefined;
}

export type TreeHead = { size: number; root: Buffer };

/** True if the proof shows that the later tree begins with all leaves of the earlier one. */
export function isConsistent(earlier: TreeHead, later: TreeHead, proof: readonly Buffer[]): boolean {
  if (earlier.size > later.size || proof.some(({ length }) => length !== HASH_BYTES)) return false;
  if (earlier.size === later.size) return proof.length === 0 && earlier.root.equals(later.root);
  if (earlier.size === 0) return proof.length === 0 && earlier.root.equals(EMPTY_ROOT);
  const rest = [...proof];
  let [at, last] = [earlier.size - 1, later.size - 1];
  while (at % 2 === 1) [at, last] = [(at - 1) / 2, Math.floor(last / 2)];
  // If the earlier size is a power of two, its root is the first hash of the path.
  const seed = at === 0 ? earlier.root : rest.shift();
  if (!seed) return false;
  let [old_root, new_root] = [seed, seed];
  for (const sibling of rest) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      old_root = nodeHash(sibling, old_root);
      new_root = nodeHash(sibling, new_root);
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)];
    } else new_root = nodeHash(new_root, sibling);
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  }
  return last === 0 && old_root.equals(earlier.root) && new_root.equals(later.root);
}

/** The largest power of two below `count`, where RFC 6962 divides a tree. */
function split(count: number): number {
  let half = 1;
  while (half * 2 < count) half *= 2;
  return half;
}
