import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** Random choices that are the same for the same seed. */
export interface Random {
  /** From 0 to 1. */
  fraction(): number;
  /** A whole number, both ends included. */
  between(least: number, most: number): number;
  pick<Item>(items: readonly [Item, ...Item[]]): Item;
}

export function seededRandom(seed: number): Random {
  const generator = xoroshiro128plus(seed);
  const between = (least: number, most: number) => uniformInt(generator, least, most);
  return {
    fraction: () => uniformFloat64(generator),
    between,
    pick: (items) => items[between(0, items.length - 1)] ?? items[0],
  };
}
