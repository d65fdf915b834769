import { canonicalHost } from '@capstan/egress';

/** Finds the pattern that covers a host in its canonical form; undefined if there is none. */
export type FindDomain = (host: string) => string | undefined;

/**
 * `example.com` matches that name, `*.example.com` matches every name below it and the name itself, and `*` matches any. Each suffix of a host is
 * looked up in a map, so a thousand patterns take no longer than one.
 */
export function compileDomains(patterns: readonly string[]): FindDomain {
  const names = new Map<string, string>();
  const trees = new Map<string, string>();
  for (const pattern of patterns)
    if (isTree(pattern)) trees.set(normal(pattern).slice(2), pattern);
    else names.set(normal(pattern), pattern);
  const any = names.get('*');
  return (host) => any ?? names.get(host) ?? findTree(trees, host);
}

function findTree(trees: ReadonlyMap<string, string>, host: string): string | undefined {
  if (trees.size === 0) return undefined;
  for (let at = 0; ; at += 1) {
    const found = trees.get(host.slice(at));
    if (found !== undefined) return found;
    at = host.indexOf('.', at);
    if (at < 0) return undefined;
  }
}

const isTree = (pattern: string) => pattern.startsWith('*.');

/** Normalizes a pattern as hosts are normalized: international names in their ASCII form. */
function normal(pattern: string): string {
  if (isTree(pattern)) return `*.${normal(pattern.slice(2))}`;
  return canonicalHost(pattern) ?? pattern.toLowerCase();
}

/** True if `outer` allows everything that `inner` allows. */
function covers(outer: string, inner: string): boolean {
  return isTree(inner)
    ? outer === '*' || outer === inner || (isTree(outer) && inner.endsWith(outer.slice(1)))
    : compileDomains([outer])(inner) !== undefined;
}

/** The intersection of two lists: of two overlapping patterns, the narrower one remains. */
export function narrowDomains(one: readonly string[], other: readonly string[]): string[] {
  const [left, right] = [one.map(normal), other.map(normal)];
  const kept = [
    ...left.filter((name) => right.some((outer) => covers(outer, name))),
    ...right.filter((name) => left.some((outer) => covers(outer, name))),
  ];
  return [...new Set(kept)];
}
