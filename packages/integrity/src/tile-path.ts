import { TILE_WIDTH } from './merkle-tree.js';

/** A tile and the number of its hashes (C2SP tlog-tiles). `entries` are the log entries behind a tile of level 0. */
export type TileName = { level: number | 'entries'; index: number; width: number };

const MAX_LEVEL = 5;

/** `tile/0/x001/x234/067`, or `tile/0/x001/x234/067.p/8` for the first 8 hashes. */
export const tilePath = ({ level, index, width }: TileName): string =>
  `tile/${level}/${indexPath(index)}${width < TILE_WIDTH ? `.p/${width}` : ''}`;

function indexPath(index: number): string {
  const groups: string[] = [];
  let rest = index;
  do {
    groups.unshift(String(rest % 1000).padStart(3, '0'));
    rest = Math.floor(rest / 1000);
  } while (rest > 0);
  return groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join('/');
}

/** Returns undefined for a path that `tilePath` does not write, because each tile has only one name. */
export function parseTilePath(path: string): TileName | undefined {
  const [, of, groups, partial] =
    /^tile\/(\d|entries)\/((?:x\d{3}\/){0,4}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/.exec(path) ?? [];
  if (of === undefined || groups === undefined) return undefined;
  const name: TileName = {
    level: of === 'entries' ? of : Number(of),
    index: Number(groups.replaceAll(/[x/]/g, '')),
    width: partial === undefined ? TILE_WIDTH : Number(partial),
  };
  if (name.level !== 'entries' && name.level > MAX_LEVEL) return undefined;
  return tilePath(name) === path ? name : undefined;
}
