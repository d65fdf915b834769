import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createTree, isConsistent, type ReadTile, rootByInclusion } from './merkle-proof.js';
import { createEdge, EMPTY_ROOT, leafHash, nodeHash, type TileHash } from './merkle-tree.js';

/** MTH as defined in RFC 6962, 2.1. */
function rootOf(leaves: readonly Buffer[]): Buffer {
  const [only] = leaves;
  if (!only) return EMPTY_ROOT;
  if (leaves.length === 1) return only;
  let half = 1;
  while (half * 2 < leaves.length) half *= 2;
  return nodeHash(rootOf(leaves.slice(0, half)), rootOf(leaves.slice(half)));
}

const leavesOf = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, at) => leafHash(Buffer.from(String(at))));

/** A log appended leaf by leaf, with its tiles. */
function grow(leaves: readonly Buffer[]) {
  const edge = createEdge();
  const nodes: TileHash[] = leaves.flatMap((leaf) => edge.append(leaf));
  const read: ReadTile = async (level, index) => {
    const hashes = level === 0 ? leaves : nodes.filter((node) => node.level === level).map(({ hash }) => hash);
    return Buffer.concat(hashes.slice(index * 256, (index + 1) * 256));
  };
  return { edge, tree: createTree(read) };
}

test('the roots match the test vectors of Certificate Transparency', () => {
  const inputs = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
  const edge = createEdge();
  const roots = inputs.map((input) => {
    edge.append(leafHash(Buffer.from(input, 'hex')));
    return edge.root().toString('hex');
  });
  expect(roots[0]).toBe('6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d');
  expect(roots[2]).toBe('aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77');
  expect(roots[7]).toBe('5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328');
});

describe('a tree', () => {
  test('of any size has the root defined by the RFC, computed from its edge and from its tiles', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 700 }), async (size) => {
        const leaves = leavesOf(size);
        const { edge, tree } = grow(leaves);
        const root = rootOf(leaves).toString('hex');
        expect(edge.root().toString('hex')).toBe(root);
        expect((await tree.root(size)).toString('hex')).toBe(root);
      }),
      { numRuns: 30, examples: [[0], [1], [255], [256], [257], [512]] },
    );
  });

  test('can be continued from its stored edge', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 600 }), fc.integer({ min: 0, max: 600 }), (first, more) => {
        const leaves = leavesOf(first + more);
        const { edge } = grow(leaves.slice(0, first));
        const resumed = createEdge(first, edge.toBytes());
        for (const leaf of leaves.slice(first)) resumed.append(leaf);
        expect(resumed.root().equals(grow(leaves).edge.root())).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  test('cannot be continued from the edge of a different size', () => {
    expect(() => createEdge(3, createEdge().toBytes())).toThrow(RangeError);
  });

  test('gives inclusion proofs that verify only for their own leaf', async () => {
    const leaves = leavesOf(600);
    const { tree } = grow(leaves);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 600 }), fc.nat(), async (size, any) => {
        const index = any % size;
        const root = await tree.root(size);
        const leaf = leaves[index] ?? EMPTY_ROOT;
        const proof = await tree.inclusionProof(index, size);
        expect(rootByInclusion(leaf, index, size, proof)?.equals(root)).toBe(true);
        expect(rootByInclusion(EMPTY_ROOT, index, size, proof)?.equals(root)).not.toBe(true);
        if (size > 1) expect(rootByInclusion(leaf, (index + 1) % size, size, proof)?.equals(root)).not.toBe(true);
        expect(rootByInclusion(leaf, index, size, [...proof, root])).toBeUndefined();
        if (proof.length > 0) expect(rootByInclusion(leaf, index, size, proof.slice(1))?.equals(root)).not.toBe(true);
      }),
    );
    expect(rootByInclusion(EMPTY_ROOT, 5, 5, [])).toBeUndefined();
    await expect(tree.inclusionProof(5, 5)).rejects.toThrow(RangeError);
  });

  test('gives consistency proofs that verify only for the earlier tree', async () => {
    const { tree } = grow(leavesOf(600));
    const other = grow([leafHash(Buffer.from('another')), ...leavesOf(600).slice(1)]).tree;
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 600 }), fc.integer({ min: 0, max: 600 }), async (a, b) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b)];
        const [earlier, later] = [
          { size: from, root: await tree.root(from) },
          { size: to, root: await tree.root(to) },
        ];
        const proof = await tree.consistencyProof(from, to);
        expect(isConsistent(earlier, later, proof)).toBe(true);
        const rewritten = { size: to, root: await other.root(to) };
        if (from > 0) {
          expect(isConsistent(earlier, rewritten, proof)).toBe(false);
          expect(isConsistent(earlier, rewritten, await other.consistencyProof(from, to))).toBe(false);
        }
        if (from < to) expect(isConsistent(later, earlier, proof)).toBe(false);
        expect(isConsistent(earlier, later, [...proof, later.root])).toBe(false);
      }),
    );
  });
});
