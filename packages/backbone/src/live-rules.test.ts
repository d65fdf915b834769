import { BUILTIN_TOOLS } from '@capstan/catalog';
import type { NewWebhook, Principal } from '@capstan/contracts';
import { insertGrant, revokeGrant } from '@capstan/store/hold';
import { putQuota } from '@capstan/store/quota';
import { parseSecretKeys } from '@capstan/store/secret';
import { insertWebhook } from '@capstan/store/webhook';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { memoryRelay } from '../../queue/src/testing/memory-relay.js';
import { openTestStore } from '../../store/src/testing/open-test-store.js';
import { openRules } from './live-rules.js';

const store = await openTestStore();
const operator: Principal = { key_id: 'key_1', tenant: 'acme', actor: 'otto', roles: ['operate'] };
const call = { tenant: 'acme', actor: 'ann' };
const tool = BUILTIN_TOOLS.find(({ tool_id }) => tool_id === 'fs.read') ?? expect.fail('there is no fs.read');

const limit = (scope: string) => putQuota(store, operator, scope, { calls_per_day: 1, on_exceed: 'deny' });
const rename = (from: string, to: string) =>
  store.query({ name: `rename-${from}`, text: `ALTER TABLE ${from} RENAME TO ${to}` }, []);
const within = (assertion: () => void) => vi.waitFor(assertion, { timeout: 10_000, interval: 10 });

async function openTestRules() {
  const relay = memoryRelay();
  const rules = await openRules(store, relay);
  onTestFinished(() => rules.close());
  const scopes = () => rules.quotasOf(call, tool)?.map(({ scope }) => scope);
  return { relay, rules, scopes };
}

beforeEach(async () => {
  await store.db.deleteFrom('quotas').execute();
});

describe('a quota', () => {
  test.each([
    { scope: 'tenant:acme', other: 'tenant:acm' },
    { scope: 'actor:ann', other: 'actor:bob' },
    { scope: 'actor:acme/ann', other: 'actor:other/ann' },
    { scope: 'tool:fs.read', other: 'tool:fs.write' },
    { scope: 'tool:fs.*', other: 'tool:db.*' },
    { scope: 'tool:fs_read', other: 'tool:fs_write' },
    { scope: 'source:core', other: 'source:mcp' },
    { scope: 'runner:file', other: 'runner:exec' },
  ])('for $scope applies to the call, and one for $other does not', async ({ scope, other }) => {
    await limit(scope);
    await limit(other);
    const { scopes } = await openTestRules();
    expect(scopes()).toEqual([scope]);
  });

  test('is returned with all others that apply, ordered by scope', async () => {
    for (const scope of ['tool:fs.read', 'actor:ann', 'tenant:acme']) await limit(scope);
    const { scopes } = await openTestRules();
    expect(scopes()).toEqual(['actor:ann', 'tenant:acme', 'tool:fs.read']);
    expect(scopes()).toEqual(['actor:ann', 'tenant:acme', 'tool:fs.read']);
  });

  test('applies when its signal arrives, also to calls that were looked up before', async () => {
    await limit('tenant:other');
    const { relay, scopes } = await openTestRules();
    expect(scopes()).toBeUndefined();
    await limit('tenant:acme');
    expect(scopes()).toBeUndefined();
    relay.say('refresh', 'quotas');
    await within(() => expect(scopes()).toEqual(['tenant:acme']));
  });

  test('applies when the process listens again if its signal was lost', async () => {
    const { relay, scopes } = await openTestRules();
    await limit('tenant:acme');
    relay.listen();
    await within(() => expect(scopes()).toEqual(['tenant:acme']));
  });

  test('stays in force while Postgres fails, and the next one is found without a signal when it is back', async () => {
    await limit('tenant:acme');
    const { relay, rules, scopes } = await openTestRules();
    await rename('grants', 'grants_away');
    try {
      await limit('actor:ann');
      await expect(rules.refresh()).rejects.toThrow(/grants/);
      relay.say('refresh', 'quotas');
      expect(scopes()).toEqual(['tenant:acme']);
    } finally {
      await rename('grants_away', 'grants');
    }
    await within(() => expect(scopes()).toEqual(['actor:ann', 'tenant:acme']));
  });
});

test('specifications are approved for the tenant that granted them, until the grant is revoked', async () => {
  const plan_hash = `sha256:${'0'.repeat(64)}`;
  const { grant_id } = await insertGrant(store, operator, { kind: 'plan', plan_hash, expires_in_ms: 60_000 });
  const { relay, rules } = await openTestRules();
  expect([rules.approvedSpecs('acme'), rules.approvedSpecs('other')]).toEqual([[plan_hash], []]);
  await revokeGrant(store, operator, grant_id);
  relay.say('refresh', 'grants');
  await within(() => expect(rules.approvedSpecs('acme')).toEqual([]));
});

test('a tenant is watched once it has an endpoint for the ends of calls', async () => {
  const { relay, rules } = await openTestRules();
  expect([rules.anyWatched(), rules.watches('acme')]).toEqual([false, undefined]);
  const endpoint: NewWebhook = { kind: 'standard', url: 'https://example.com', events: ['invocation.*'] };
  await insertWebhook(store, parseSecretKeys('5'.repeat(64)), operator, endpoint);
  relay.say('refresh', 'webhooks');
  await within(() => expect(rules.watches('acme')).toBe(true));
  expect([rules.anyWatched(), rules.watches('other')]).toEqual([true, undefined]);
});

test('closed rules have no listener', async () => {
  const relay = memoryRelay();
  const rules = await openRules(store, relay);
  rules.close();
  expect(relay.listening()).toBe(0);
});
