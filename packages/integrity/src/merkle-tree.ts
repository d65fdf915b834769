import * as crypto from 'node:crypto';
import { createHash } from 'node:crypto';

export const HASH_BYTES = 32;

/** crypto.hash (Node 20.12+) creates no stream object, unlike createHash. */
export const sha256: (bytes: Uint8Array) => Buffer =
  typeof crypto.hash === 'function'
    ? (bytes) => crypto.hash('sha256', bytes, 'buffer')
    : (bytes) => createHash('sha256').update(bytes).digest();

/** RFC 6962 hashes leaves and nodes with different prefixes, so that neither can pass for the other. */
export function leafHash(entry: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(1 + entry.length);
  bytes[0] = 0x00;
  bytes.set(entry, 1);
  return sha256(bytes);
}

export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(1 + 2 * HASH_BYTES);
  bytes[0] = 0x01;
  bytes.set(left, 1);
  bytes.set(right, 1 + HASH_BYTES);
  return sha256(bytes);
}

/** The root of a tree without leaves. */
export const EMPTY_ROOT = sha256(new Uint8Array());

/** The levels of the tree in one tile, which has up to 256 hashes. */
export const TILE_LEVELS = 8;
export const TILE_WIDTH = 2 ** TILE_LEVELS;

/** A hash in a tile: the root of 256^level leaves. */
export type TileHash = { level: number; index: number; hash: Buffer };

/**
 * The right edge of a tree: the roots of its full subtrees, largest first, one for each set bit of the size. It is all that
 * appending a leaf and computing the root need.
 */
export type Edge = {
  readonly size: number;
  /** Returns the hashes above level 0 that this leaf completed. */
  append(leaf: Buffer): TileHash[];
  root(): Buffer;
  toBytes(): Buffer;
};

export function createEdge(from = 0, bytes: Uint8Array = new Uint8Array()): Edge {
  let size = from;
  const roots = hashesIn(bytes);
  if (roots.length !== bitsOf(from))
    throw new RangeError(`the edge of ${from} leaves does not have ${roots.length} roots`);
  return {
    get size() {
      return size;
    },
    append: (leaf) => {
      const completed: TileHash[] = [];
      let hash = leaf;
      let index = size;
      // As in binary addition, two subtrees of one size make one of the next.
      for (let level = 1; index % 2 === 1; level++) {
        const left = roots.pop();
        if (!left) throw new Error('the edge of the tree is missing a root');
        hash = nodeHash(left, hash);
        index = (index - 1) / 2;
        if (level % TILE_LEVELS === 0) completed.push({ level: level / TILE_LEVELS, index, hash });
      }
      roots.push(hash);
      size += 1;
      return completed;
    },
    root: () => (roots.length === 0 ? EMPTY_ROOT : roots.reduceRight((right, left) => nodeHash(left, right))),
    toBytes: () => Buffer.concat(roots),
  };
}

export function hashesIn(bytes: Uint8Array): Buffer[] {
  const hashes: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += HASH_BYTES) hashes.push(Buffer.from(bytes.subarray(at, at + HASH_BYTES)));
  return hashes;
}

function bitsOf(size: number): number {
  let bits = 0;
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) bits += rest % 2;
  return bits;
}
