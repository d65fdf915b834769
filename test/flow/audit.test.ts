import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { ALLOW_ALL, type System, startSystem } from './start-system.js';

let system: System;
beforeAll(async () => {
  system = await startSystem({ name: 'postgres' });
  await system.admin.policies.put('default', ALLOW_ALL);
});

describe('the audit', () => {
  test('records a refused key once, and a request whose key lacks the role', async () => {
    const stranger = system.clientFor('cap_not-a-key-of-anybody');
    for (let time = 0; time < 3; time++)
      await expect(stranger.runs.list().page()).rejects.toMatchObject({ code: 6001 });
    const { key } = await system.admin.keys.create({ tenant: 'default', actor: 'ann', roles: ['submit'] });
    await expect(system.clientFor(key).audit.list().page()).rejects.toMatchObject({ code: 6002 });
    await eventually(async () => {
      expect((await system.admin.audit.list({ event: 'login.refused' }).page()).items).toMatchObject([
        { actor: 'nobody', detail: { code: 6001 } },
      ]);
      expect((await system.admin.audit.list({ event: 'role.refused' }).page()).items).toMatchObject([
        { actor: 'ann', detail: { path: '/v1/audit' } },
      ]);
    });
  });

  test('is hash-chained, can be filtered and exported, and verification names a changed event', async () => {
    await system.admin.policies.put('other', ALLOW_ALL);
    await eventually(async () => expect((await system.admin.audit.verify()).unchained).toBe(0));
    expect(await system.admin.audit.verify()).toMatchObject({ ok: true, mismatches: [] });
    const { items } = await system.admin.audit.list({ event: 'policy.*', subject: 'other' }).page();
    expect(items).toMatchObject([
      { event: 'policy.put', actor: 'admin', chain_hash: expect.stringMatching(/^sha256:/) },
    ]);
    const exported = [];
    for await (const entry of system.admin.audit.export({ event: 'policy.put' })) exported.push(entry.subject);
    expect(exported).toContain('other');
    const { db } = system.store;
    await sql`ALTER TABLE audit DISABLE TRIGGER audit_append_only`.execute(db);
    await sql`UPDATE audit SET actor = 'nobody' WHERE seq = ${items[0]?.seq}`.execute(db);
    expect((await system.admin.audit.verify()).mismatches).toMatchObject([{ table: 'audit', row: items[0]?.seq }]);
    await sql`UPDATE audit SET actor = 'admin' WHERE seq = ${items[0]?.seq}`.execute(db);
    await sql`ALTER TABLE audit ENABLE TRIGGER audit_append_only`.execute(db);
  });
});
