import ipaddr from 'ipaddr.js';

export type Range = { cidr: [ipaddr.IPv4 | ipaddr.IPv6, number]; reason: string };

const range = (cidr: string, reason: string): Range => ({ cidr: ipaddr.parseCIDR(cidr), reason });

/**
 * Addresses at which clouds hand out credentials. They are denied even if private addresses are allowed, because no intranet uses
 * them. All of link-local is included, because every cloud has services of its own there.
 */
export const METADATA_V4: Range[] = [
  range('169.254.0.0/16', 'link-local, used by cloud metadata services'),
  range('100.100.100.200/32', 'the metadata service of Alibaba Cloud'),
  range('168.63.129.16/32', 'the host agent of Azure'),
  range('192.0.0.192/32', 'the metadata service of Oracle Cloud'),
];
export const METADATA_V6: Range[] = [
  range('fd00:ec2::/32', 'the metadata service of AWS'),
  range('fd20:ce::254/128', 'the metadata service of Google Cloud'),
  range('fd00:42::42/128', 'the metadata service of Scaleway'),
  range('fe80::a9fe:a9fe/128', 'the metadata service of OpenStack'),
];

/** IANA's special-purpose registry: all ranges that are not public addresses. */
export const SPECIAL_V4: Range[] = [
  range('0.0.0.0/8', 'this network'),
  range('10.0.0.0/8', 'private'),
  range('100.64.0.0/10', 'carrier-grade NAT'),
  range('127.0.0.0/8', 'loopback'),
  range('172.16.0.0/12', 'private'),
  range('192.0.0.0/24', 'reserved for protocols'),
  range('192.0.2.0/24', 'for documentation'),
  range('192.88.99.0/24', '6to4 relay'),
  range('192.168.0.0/16', 'private'),
  range('198.18.0.0/15', 'for benchmarking'),
  range('198.51.100.0/24', 'for documentation'),
  range('203.0.113.0/24', 'for documentation'),
  range('224.0.0.0/4', 'multicast'),
  range('240.0.0.0/4', 'reserved or broadcast'),
];

/** The special ranges within 2000::/3. Nothing outside of 2000::/3 is public. */
export const SPECIAL_V6: Range[] = [
  range('2001::/23', 'reserved for protocols such as Teredo'),
  range('2001:db8::/32', 'for documentation'),
  range('2002::/16', '6to4'),
  range('3fff::/20', 'for documentation'),
];

/** Ranges that are refused anyway. They are listed for a better reason than "not a public address". */
export const NAMED_V6: Range[] = [
  range('::/128', 'unspecified'),
  range('::1/128', 'loopback'),
  range('64:ff9b:1::/48', 'local IPv4 translation'),
  range('100::/64', 'discard-only'),
  range('fc00::/7', 'private'),
  range('fe80::/10', 'link-local'),
  range('fec0::/10', 'site-local'),
  range('ff00::/8', 'multicast'),
];
