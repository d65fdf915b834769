/** `example.com` is that name; `*.example.com` is every name under it, and the name itself; `*` is any. */
export function matchesDomain(pattern: string, host: string): boolean {
  const wanted = normal(pattern);
  if (wanted === '*') return true;
  if (!wanted.startsWith('*.')) return wanted === host;
  return host.endsWith(wanted.slice(1)) || host === wanted.slice(2);
}

const normal = (name: string) => name.toLowerCase().replace(/\.$/, '');

/** Whether everything that `inner` allows is allowed by `outer` too. */
function covers(outer: string, inner: string): boolean {
  return inner.startsWith('*.')
    ? outer === '*' || outer === inner || endsUnder(outer, inner)
    : matchesDomain(outer, inner);
}

const endsUnder = (outer: string, inner: string) => outer.startsWith('*.') && inner.endsWith(outer.slice(1));

/** Where both lists allow a connection to go: of two that overlap the narrower stays. */
export function narrowDomains(one: readonly string[], other: readonly string[]): string[] {
  const [left, right] = [one.map(normal), other.map(normal)];
  const kept = [
    ...left.filter((name) => right.some((outer) => covers(outer, name))),
    ...right.filter((name) => left.some((outer) => covers(outer, name))),
  ];
  return [...new Set(kept)];
}
