import { isIP } from 'node:net';

/**
 * Returns a host as WHATWG URL spells it, without brackets, zone and trailing dot: `0x7f.1` is `127.0.0.1`,
 * `[::FFFF:7F00:1]` is `::ffff:7f00:1`, `EXAMPLE.com.` is `example.com`. Null if no URL can have such a host.
 */
export function canonicalHost(host: string): string | null {
  const bare = withoutZone(host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host);
  if (isIP(bare) === 4) return bare;
  // Parsers disagree about `::127.0.0.1`, but agree about the hex form that URL produces.
  if (isIP(bare) === 6) return new URL(`http://[${bare}]/`).hostname.slice(1, -1);
  if (FORBIDDEN.test(bare)) return null;
  const url = URL.canParse(`http://${bare}/`) ? new URL(`http://${bare}/`) : null;
  const name = url?.hostname.replace(/\.$/, '');
  return name ? name : null;
}

/** Characters that would end the host within a URL, so that the rest of it would not be checked. */
const FORBIDDEN = /[\s/\\?#@:[\]]/;

/** Removes the zone that resolvers add, as in `fe80::1%eth0`. */
function withoutZone(host: string): string {
  const percent = host.indexOf('%');
  return percent > 0 && isIP(host) === 6 ? host.slice(0, percent) : host;
}
