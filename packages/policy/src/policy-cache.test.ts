import { expect, test } from 'vitest';
import { DEFAULT_POLICY } from './default-policy.js';
import { PolicyCache } from './policy-cache.js';

test('a version is compiled once', () => {
  let compiled = 0;
  const cache = new PolicyCache(({ policy_hash }) => ({ policy_hash, number: ++compiled }));
  const version = { policy_hash: 'sha256:1', document: DEFAULT_POLICY };
  expect(cache.get('sha256:1')).toBeUndefined();
  expect(cache.of(version)).toBe(cache.of(version));
  expect(cache.get('sha256:1')).toEqual({ policy_hash: 'sha256:1', number: 1 });
  expect(cache.of({ ...version, policy_hash: 'sha256:2' }).number).toBe(2);
});
