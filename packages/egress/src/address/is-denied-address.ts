import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { canonicalHost } from './canonical-host.js';
import { deniedName, metadataName } from './denied-name.js';
import { METADATA_V4, METADATA_V6, NAMED_V6, type Range, SPECIAL_V4, SPECIAL_V6 } from './denied-ranges.js';
import { embeddedIpv4 } from './embedded-ipv4.js';

/**
 * Why a connection to this host is refused, or null. Takes addresses in any spelling, and names: of a name it knows only
 * those that are local everywhere, the rest is for who resolves it. Pure.
 */
export function isDeniedAddress(host: string): string | null {
  const canonical = canonicalHost(host);
  if (canonical === null) return `${host} is not a valid host`;
  if (!isIP(canonical)) return explain(host, metadataName(canonical) ?? deniedName(canonical));
  const address = ipaddr.parse(canonical);
  return explain(host, metadataReason(address) ?? specialReason(address));
}

/** The part of it that holds even where private addresses are allowed. */
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
  return isPublic || standsForPublic ? null : 'outside of what is assigned to anybody';
}

function embeddedReason(address: ipaddr.IPv6, reason: (inner: ipaddr.IPv4) => string | null): string | null {
  for (const { name, address: inner } of embeddedIpv4(address)) {
    const why = reason(inner);
    if (why) return `${name} ${inner.toString()}, ${why}`;
  }
  return null;
}
