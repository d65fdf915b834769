import { expect, test } from 'vitest';
import { createRedactor } from './create-redactor.js';

const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U';
const redactor = createRedactor({ values: [] });

test('a value without secrets is returned as the same object', () => {
  const value = { a: ['x'.repeat(50), 1, null, { b: true, c: 12_345_678 }], d: {} };
  expect(redactor.json(value)).toBe(value);
});

test('strings and keys are redacted at any depth, and unchanged parts are shared', () => {
  const kept = { deep: ['text'] };
  const value = { a: [{ b: `x ${JWT}` }], [JWT]: 1, kept };
  const redacted = redactor.json(value);
  expect(redacted).toEqual({ a: [{ b: 'x [REDACTED]' }], '[REDACTED]': 1, kept });
  expect(redacted).toHaveProperty(
    'kept',
    expect.toSatisfy((same: unknown) => same === kept),
  );
  expect(value.a[0]?.b).toContain(JWT);
});

test('keys that are redacted to the same text are both kept', () => {
  const value = { AKIAIOSFODNN7EXAMPLE: 1, ASIAIOSFODNN7EXAMPLE: 2 };
  expect(redactor.json(value)).toEqual({ '[REDACTED]': 1, '[REDACTED] 2': 2 });
});

test('a key named __proto__ remains an ordinary key', () => {
  const redacted = redactor.json(JSON.parse(`{"__proto__": {"a": 1}, "b": "${JWT}"}`));
  expect(JSON.stringify(redacted)).toBe('{"__proto__":{"a":1},"b":"[REDACTED]"}');
});

test('a known value of digits is redacted as a number', () => {
  expect(createRedactor({ values: ['4929123412341234'] }).json([4929123412341234, 5])).toEqual(['[REDACTED]', 5]);
});

test('values that are nested too deep to scan are replaced', () => {
  const depth = 100_000;
  const value = JSON.parse(`${'['.repeat(depth)}"${JWT}"${']'.repeat(depth)}`);
  expect(JSON.stringify(redactor.json(value))).toBe(`${'['.repeat(1000)}"[REDACTED]"${']'.repeat(1000)}`);
});

const RANDOM = 'q7Zk2VxW9tLr4bNc8mJd1sHf6gPy3eQa5uTo0iXR';
const KEY = `-----BEGIN PRIVATE KEY-----\n${`${RANDOM}${RANDOM}\n`.repeat(4)}`;

test.each([
  ['a service account', { type: 'service_account', private_key: `${KEY}-----END PRIVATE KEY-----\n`, a: 1 }],
  ['a key that breaks off', { private_key: KEY, client_email: 'a@b.c', more: ['x'] }],
  ['a key at the end', { a: { private_key: KEY } }],
  ['a command', { cmd: 'curl -u admin:pQ9wTxu4Fg', next: 1, list: ['curl --user me:pQ9wTxu4Fg7'] }],
  ['an address', { url: 'postgres://user:s3cr3tP4ss@db/app', mail: 'me@example.com' }],
  ['a header', { headers: { Authorization: `Bearer ${RANDOM}`, 'x-api-key': RANDOM }, b: 2 }],
  ['text in text', { body: JSON.stringify({ password: RANDOM, type: 'service_account' }), c: 3 }],
])('redacted JSON text with %s is still valid JSON', (_, value) => {
  for (const indent of [undefined, 2]) {
    const redacted = redactor.text(JSON.stringify(value, null, indent));
    expect(redacted).toContain('[REDACTED]');
    expect(Object.keys(JSON.parse(redacted))).toEqual(Object.keys(value));
  }
});
