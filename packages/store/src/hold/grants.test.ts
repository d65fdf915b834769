import { nanoid } from 'nanoid';
import { expect, test } from 'vitest';
import { createKey, deleteKey } from '../key/keys.js';
import { openTestStore } from '../testing/open-test-store.js';
import { hasLiveGrants, insertGrant } from './grants.js';

const store = await openTestStore();

test('a grant is deleted with the key that gave it', async () => {
  const tenant = `tenant-${nanoid()}`;
  const admin = { key_id: 'key_admin', tenant, actor: 'ann', roles: ['admin' as const] };
  const { key_id } = await createKey(store, admin, { tenant, actor: 'dan', roles: ['operate'] });
  await insertGrant(
    store,
    { key_id, tenant, actor: 'dan', roles: ['operate'] },
    { kind: 'tool', tool_id: 'x', count: 5, expires_in_ms: 60_000 },
  );
  expect(await hasLiveGrants(store.db, tenant)).toBe(true);
  await deleteKey(store, admin, key_id, tenant);
  expect(await hasLiveGrants(store.db, tenant)).toBe(false);
});
