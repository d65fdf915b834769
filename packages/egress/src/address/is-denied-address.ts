import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { canonicalHost } from './canonical-host.js';
import { METADATA_V4, METADATA_V6, NAMED_V6, type Range, SPECIAL_V4, SPECIAL_V6 } from './denied-ranges.js';
import { embeddedIpv4 } from './embedded-ipv4.js';

/**
 * Returns why a connection to this host is refused, or null. Takes addresses in any spelling, and names. It refuses only names that
 * are local everywhere; other names have to be resolved by the caller. Pure.
 */
export function isDeniedAddress(host: string): string | null {
  const canonical = canonicalHost(host);
  if (canonical === null) return `${host} is not a valid host`;
  if (!isIP(canonical)) return explain(host, metadataName(canonical) ?? deniedName(canonical));
  const address = ipaddr.parse(canonical);
  return explain(host, metadataReason(address) ?? specialReason(address));
}

/** Like `isDeniedAddress`, for calls that may reach private addresses. */
export function isMetadataAddress(host: string): string | null {
  const canonical = canonicalHost(host);
  if (canonical === null) return `${host} is not a valid host`;
  if (!isIP(canonical)) return explain(host, metadataName(canonical));
  return explain(host, metadataReason(ipaddr.parse(canonical)));
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

const explain = (host: string, reason: string | null) => reason && `${host} is not a public address: ${reason}`;

const reasonIn = (ranges: Range[], address: Address): string | null =>
  ranges.find(({ cidr }) => address.match(cidr))?.reason ?? null;

function metadataReason(address: Address): string | null {
  if (address instanceof ipaddr.IPv4) return reasonIn(METADATA_V4, address);
  return reasonIn(METADATA_V6, address) ?? embeddedReason(address, (inner) => reasonIn(METADATA_V4, inner));
}

function specialReason(address: Address): string | null {
  if (address instanceof ipaddr.IPv4) return reasonIn(SPECIAL_V4, address);
  const named = reasonIn(NAMED_V6, address) ?? reasonIn(SPECIAL_V6, address);
  const embedded = embeddedReason(address, (inner) => reasonIn(SPECIAL_V4, inner));
  if (named ?? embedded) return named && embedded ? `${named}; ${embedded}` : (named ?? embedded);
  const isPublic = (address.parts[0] ?? 0) >> 13 === 1;
  const standsForPublic = embeddedIpv4(address).some(({ stands_for }) => stands_for);
  return isPublic || standsForPublic ? null : 'not assigned to anyone';
}

function embeddedReason(address: ipaddr.IPv6, reason: (inner: ipaddr.IPv4) => string | null): string | null {
  for (const { name, address: inner } of embeddedIpv4(address)) {
    const why = reason(inner);
    if (why) return `${name} ${inner.toString()}, ${why}`;
  }
  return null;
}

/** Names of this machine or of a cloud metadata service, which are refused without being resolved. */
const LOCAL = ['localhost', 'localdomain', 'ip6-localhost', 'ip6-loopback'];
const METADATA = ['metadata', 'metadata.google.internal', 'metadata.tencentyun.com', 'instance-data'];

const isUnder = (name: string, names: string[]) => names.some((one) => name === one || name.endsWith(`.${one}`));

const deniedName = (name: string): string | null => (isUnder(name, LOCAL) ? 'loopback' : null);

const metadataName = (name: string): string | null =>
  METADATA.includes(name) ? 'the name of a cloud metadata service' : null;
