import { startCoordinator } from '@capstan/coordinator';
import { putQuota } from '@capstan/store/quota';
import { expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../fixtures/create-test-database.js';
import { eventually } from '../fixtures/eventually.js';
import { afterAWhile } from './after-a-while.js';
import { commitWork } from './insert-work.js';
import { newGate } from './new-gate.js';
import { openTestBackbone } from './open-test-backbone.js';
import { query } from './query.js';

const HOUR_MS = 3_600_000;

test('a call that a new quota deferred is queued although it was announced before the coordinator knew the quota', async () => {
  const { url: database_url } = await createTestDatabase();
  const backbone = await openTestBackbone({ database_url });
  const { store, relay, rules } = backbone;
  const known = newGate();
  let isKnown = false;
  const late = {
    ...rules,
    quotas: () => (isKnown ? rules.quotas() : []),
    refresh: async () => {
      await known.opened;
      await rules.refresh();
      isKnown = true;
    },
  };
  // Sweeps are too rare to help.
  const coordinator = startCoordinator({ ...backbone, rules: late }, { sweep_ms: HOUR_MS, retention: {} });
  onTestFinished(() => coordinator.stop());

  const scope = 'tenant:default';
  const ann = { key_id: 'key_1', tenant: 'default', actor: 'ann', roles: ['admin' as const] };
  await putQuota(store, ann, scope, { max_concurrent: 1, on_exceed: 'defer' });
  relay.publish('refresh', ['quotas']);
  await afterAWhile(backbone);
  await commitWork(backbone, [{ status: 'deferred', quota_scopes: [scope] }]);
  relay.publish('due', ['now']);
  await afterAWhile(backbone);
  known.open();
  await eventually(async () =>
    expect(await query(database_url, 'SELECT status FROM work')).toEqual([{ status: 'queued' }]),
  );
});
