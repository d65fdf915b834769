import { existsSync, readFileSync } from 'node:fs';
import ipaddr from 'ipaddr.js';
import { describe, expect, test } from 'vitest';
import { isDeniedAddress, isMetadataAddress } from './is-denied-address.js';

const CORPUS = new URL('../../../../../shared/corpora/ssrf/ssrf_filter.cidrs.json', import.meta.url);

describe.skipIf(!existsSync(CORPUS))('THE CORPUS OF RANGES (skipped where ../shared/corpora is absent)', () => {
  const ranges: string[] = existsSync(CORPUS) ? JSON.parse(readFileSync(CORPUS, 'utf8')) : [];

  test.each(ranges)('both ends of %s are denied', (range) => {
    const cidr = range.includes('/') ? range : `${range}/32`;
    const [first, last] = range.includes(':')
      ? [ipaddr.IPv6.networkAddressFromCIDR(cidr), ipaddr.IPv6.broadcastAddressFromCIDR(cidr)]
      : [ipaddr.IPv4.networkAddressFromCIDR(cidr), ipaddr.IPv4.broadcastAddressFromCIDR(cidr)];
    expect(isDeniedAddress(first.toString())).toEqual(expect.any(String));
    expect(isDeniedAddress(last.toString())).toEqual(expect.any(String));
  });
});

test.each([
  ['compatible', '::127.0.0.1'],
  ['mapped', '::ffff:127.0.0.1'],
  ['mapped, in hex', '::ffff:7f00:1'],
  ['mapped, written out', '0:0:0:0:0:ffff:10.0.0.1'],
  ['translated', '::ffff:0:127.0.0.1'],
  ['6to4', '2002:7f00:1::'],
  ['NAT64', '64:ff9b::10.0.0.1'],
  ['local NAT64', '64:ff9b:1::8.8.8.8'],
  ['Teredo', '2001:0:808:808:8000:63bf:f5ff:fffe'],
  ['ISATAP', '2606:4700::5efe:192.168.0.1'],
  ['ISATAP, universal', '2606:4700::200:5efe:127.0.0.1'],
])('a denied IPv4 address embedded in IPv6 is found: %s', (_name, address) => {
  expect(isDeniedAddress(address)).toMatch(/is not a public address/);
  expect(isDeniedAddress(`[${address}]`)).toMatch(/is not a public address/);
});

test.each(['127.1', '0177.0.0.1', '0x7f000001', '2130706433', '１２７.0.0.1', '127.0.0.1.', 'fe80::1%eth0', '[::]'])(
  'a denied address is recognized in another spelling: %s',
  (host) => expect(isDeniedAddress(host)).toMatch(/is not a public address/),
);

test.each(['localhost', 'LOCALHOST.', 'a.b.localhost', 'metadata.google.internal'])(
  'a name that is local everywhere is denied without a resolver: %s',
  (host) => expect(isDeniedAddress(host)).toMatch(/is not a public address/),
);

test.each([
  '169.254.169.254',
  '169.254.170.2',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::254',
  '::ffff:169.254.169.254',
  'fd20:ce::254',
])('a metadata address is denied even if private ones are allowed: %s', (host) => {
  expect(isMetadataAddress(host)).toMatch(/is not a public address/);
  expect(isDeniedAddress(host)).toMatch(/is not a public address/);
});

test.each([
  '8.8.8.8',
  '2606:4700::1111',
  '::ffff:8.8.8.8',
  '64:ff9b::8.8.8.8',
  'example.com',
  'localhost.example.com',
  '172.32.0.1',
  '100.128.0.1',
])('a public host is not denied: %s', (host) => expect(isDeniedAddress(host)).toBeNull());

test.each(['', 'a b', 'example.com@127.0.0.1', '999.1.1.1', '[::1', 'a/b'])('an invalid host is denied: %j', (host) =>
  expect(isDeniedAddress(host)).toMatch(/is not a valid host/),
);
