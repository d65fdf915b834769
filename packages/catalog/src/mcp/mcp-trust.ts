import { isIP } from 'node:net';
import type { McpTier, NewMcpServer, Trust } from '@capstan/contracts';

/** Programs that an operator installed, servers on a private network, and servers of others. */
const TRUST: Record<McpTier, Trust> = { local: 'org', remote: 'community', cloud: 'user' };

export const mcpTrust = (config: NewMcpServer): Trust => config.trust ?? TRUST[mcpTier(config)];

export function mcpTier({ url }: NewMcpServer): McpTier {
  if (url === undefined) return 'local';
  return isOwnNetwork(new URL(url).hostname) ? 'remote' : 'cloud';
}

const OWN_SUFFIXES = ['.local', '.internal', '.lan', '.home.arpa', '.localhost', '.svc'];

/** Decided by the host name alone, because a name may resolve to anything. Hosts that are not clearly private count as public. */
function isOwnNetwork(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  if (isIP(host) === 4) return isPrivate4(host);
  if (isIP(host) === 6) return host === '::1' || /^f[cd]|^fe[89ab]/.test(host);
  return !host.includes('.') || OWN_SUFFIXES.some((suffix) => host.endsWith(suffix));
}

function isPrivate4(host: string): boolean {
  const [a = 0, b = 0] = host.split('.').map(Number);
  return a === 127 || a === 10 || (a === 192 && b === 168) || (a === 172 && b >= 16 && b < 32);
}

const MAY_BE_PRIVATE: ReadonlySet<Trust> = new Set(['vendor', 'org', 'community']);

/** A less trusted server may not use private addresses: the owner of its name could let it resolve to one of ours. */
export const mayBePrivate = (config: NewMcpServer): boolean => MAY_BE_PRIVATE.has(mcpTrust(config));
