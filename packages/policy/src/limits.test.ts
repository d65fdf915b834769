import { describe, expect, test } from 'vitest';
import { parsePolicy } from './parse-policy.js';
import type { Request } from './request.js';
import { compileOpen } from './testing/compile-open.js';
import { newRequest, newTool } from './testing/new-request.js';

const limitsOf = (limits: object[], given: Partial<Request> = {}, more: object = {}) =>
  compileOpen(parsePolicy({ rules: [{ id: 'all', effect: 'allow' }], limits, ...more })).decide(newRequest(given))
    .limits;

describe('the strictest of all matching limits applies', () => {
  test('to times and sizes', () => {
    const limits = [
      { timeout_ms: 9000, max_output_bytes: 10 },
      { match: { runner: 'builtin' }, timeout_ms: 5000 },
      { match: { runner: 'exec' }, timeout_ms: 1 },
      { timeout_ms: 7000, max_output_bytes: 20 },
    ];
    expect(limitsOf(limits)).toEqual({ timeout_ms: 5000, max_output_bytes: 10 });
  });
  test('to domains, of which the narrower or none remains', () => {
    const network = (...lists: ('none' | string[])[]) => limitsOf(lists.map((list) => ({ network: list }))).network;
    expect(network(['*.example.com', 'a.org'], ['api.example.com', 'b.org'])).toEqual(['api.example.com']);
    expect(network(['*'], ['*.example.com'])).toEqual(['*.example.com']);
    expect(network(['*.a.example.com'], ['*.example.com'])).toEqual(['*.a.example.com']);
    expect(network(['a.org'], ['b.org'])).toBe('none');
    expect(network(['a.org'], 'none')).toBe('none');
  });
  test('to switches', () => {
    const one = { sandbox: 'preferred', shell: true, write: true, deny_private_ips: false, env: ['LANG', 'A'] };
    expect(limitsOf([one])).toMatchObject(one);
    const other = { sandbox: 'required', shell: false, write: false, deny_private_ips: true, env: ['A', 'B'] };
    expect(limitsOf([one, other])).toMatchObject({ ...other, env: ['A'] });
  });
  test('to limits that depend on the call', () => {
    const limits = [{ match: { labels: { env: 'prod' } }, timeout_ms: 100 }];
    expect(limitsOf(limits, { labels: { env: 'prod' } }).timeout_ms).toBe(100);
    expect(limitsOf(limits).timeout_ms).toBe(30_000);
  });
});

describe('the timeout', () => {
  test('is 30 s unless the call or its tool requests another, and at most 10 minutes', () => {
    expect(limitsOf([]).timeout_ms).toBe(30_000);
    expect(limitsOf([], { descriptor: newTool({ timeout_ms: 5000 }) }).timeout_ms).toBe(5000);
    expect(limitsOf([], { timeout_ms: 90_000 }).timeout_ms).toBe(90_000);
    expect(limitsOf([], { timeout_ms: 86_400_000 }).timeout_ms).toBe(600_000);
  });
  test('of one call does not affect the next', () => {
    const compiled = compileOpen(parsePolicy({ rules: [{ id: 'all', effect: 'allow' }] }));
    const descriptor = newTool();
    const times = [1000, undefined, 2000].map((timeout_ms) => compiled.decide(newRequest({ descriptor, timeout_ms })));
    expect(times.map(({ limits }) => limits.timeout_ms)).toEqual([1000, 30_000, 2000]);
  });
});

test('a sandbox is required from MED risk up, and preferred below', () => {
  const sandbox = (risk: 'LOW' | 'MED', limits: object[] = []) =>
    limitsOf(limits, { descriptor: newTool({ runner: 'exec', risk }) }).sandbox;
  expect(sandbox('LOW')).toBe('preferred');
  expect(sandbox('MED')).toBe('required');
  expect(sandbox('MED', [{ match: { runner: 'exec' }, sandbox: 'preferred' }])).toBe('preferred');
});

describe('connections of tools whose inputs name the destination', () => {
  const fetching = (url: string, limits: object[] = []) =>
    compileOpen(parsePolicy({ rules: [{ id: 'all', effect: 'allow' }], limits })).decide(
      newRequest({ descriptor: newTool({ runner: 'api' }), inputs: { url } }),
    ).rule_matched;
  test('do not reach private addresses unless allowed', () => {
    expect(fetching('http://169.254.169.254/latest')).toBe('deny_private_ips=true');
    expect(fetching('http://localhost:3000')).toBe('deny_private_ips=true');
    expect(fetching('http://localhost:3000', [{ deny_private_ips: false }])).toBe('all');
  });
  test('reach what the limits allow', () => {
    expect(fetching('https://example.com', [{ network: ['example.com'] }])).toBe('all');
    expect(fetching('https://example.org', [{ network: ['example.com'] }])).toBe('network');
    expect(fetching('https://example.org', [{ network: 'none' }])).toBe('network=none');
    expect(fetching('https://example.org', [{ match: { actor: 'ann' }, network: 'none' }])).toBe('network=none');
  });
});
