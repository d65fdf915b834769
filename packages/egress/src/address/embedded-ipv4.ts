import ipaddr from 'ipaddr.js';

/** `at`: the byte where the IPv4 address begins. `stands_for`: true if packets to the IPv6 address reach the IPv4 address. */
type Embedding = { name: string; at: number; inverted?: boolean; stands_for?: boolean; is(parts: number[]): boolean };

const zero = (parts: number[], from: number, to: number) => parts.slice(from, to).every((part) => part === 0);

/** All ways to embed an IPv4 address in an IPv6 address. `parts` are its eight groups. */
const EMBEDDINGS: Embedding[] = [
  { name: 'IPv4-mapped', at: 12, stands_for: true, is: (p) => zero(p, 0, 5) && p[5] === 0xffff },
  { name: 'IPv4-compatible', at: 12, is: (p) => zero(p, 0, 6) },
  { name: 'IPv4-translated', at: 12, is: (p) => zero(p, 0, 4) && p[4] === 0xffff && p[5] === 0 },
  // IPv6-only networks reach public IPv4 only this way, so an embedded public address stays allowed.
  { name: 'NAT64', at: 12, stands_for: true, is: (p) => p[0] === 0x64 && p[1] === 0xff9b && zero(p, 2, 6) },
  { name: 'local NAT64', at: 12, is: (p) => p[0] === 0x64 && p[1] === 0xff9b && p[2] === 1 },
  { name: '6to4', at: 2, is: (p) => p[0] === 0x2002 },
  { name: 'Teredo', at: 12, inverted: true, is: (p) => p[0] === 0x2001 && p[1] === 0 },
  { name: 'Teredo server', at: 4, is: (p) => p[0] === 0x2001 && p[1] === 0 },
  { name: 'ISATAP', at: 12, is: (p) => ((p[4] ?? 0) & 0xfdff) === 0 && p[5] === 0x5efe },
];

export type Embedded = { name: string; address: ipaddr.IPv4; stands_for: boolean };

export function embeddedIpv4(address: ipaddr.IPv6): Embedded[] {
  const bytes = address.toByteArray();
  return EMBEDDINGS.filter(({ is }) => is(address.parts)).map(({ name, at, inverted, stands_for }) => ({
    name,
    address: new ipaddr.IPv4(bytes.slice(at, at + 4).map((byte) => (inverted ? byte ^ 0xff : byte))),
    stands_for: stands_for ?? false,
  }));
}
