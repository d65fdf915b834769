import { type Client, createClient } from '@capstan/client';
import type { TenantEvent, TenantEventType } from '@capstan/contracts';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { atEnd } from '../fixtures/at-end.js';
import { eventually } from '../fixtures/eventually.js';
import { queues } from '../fixtures/queues.js';
import { ADD, HOLD_POLICY, newActor } from './on-held-sums.js';
import { ADMIN_KEY, type System, startSystem } from './start-system.js';

/** Collects events until the end of the test file. */
async function listen(client: Client, types?: TenantEventType[]) {
  const got: TenantEvent[] = [];
  const stop = new AbortController();
  atEnd(async () => stop.abort());
  void (async () => {
    for await (const event of client.changes({ types, signal: stop.signal })) got.push(event);
  })().catch(() => undefined);
  return got;
}

const of = (got: TenantEvent[], id: string) =>
  got.filter((event) => event.id === id).map(({ type, status }) => `${type} ${status}`);

describe.each(queues)('the events of a tenant on the $name queue', (queue) => {
  let system: System;
  let admin: TenantEvent[];
  let asker: Client;
  beforeAll(async () => {
    system = await startSystem(queue);
    await system.admin.policies.put('default', HOLD_POLICY);
    asker = await newActor(system, 'asker', ['submit']);
    admin = await listen(system.admin);
    // A stream starts with what happens after it is open, so this repeats until an event arrives.
    await eventually(async () => {
      await system.admin.queues.resume('db');
      return of(admin, 'db').length > 0;
    });
  });

  test('cover a held call and its hold from beginning to end', async () => {
    const held = await asker.submit({ tool_id: ADD, inputs: { a: 1, b: 2 } });
    await eventually(() => of(admin, held.hold_id ?? '').length === 1);
    await system.admin.holds.release(held.hold_id ?? '');
    await asker.wait(held.invocation_id, { timeout_s: 60 });
    await eventually(() => of(admin, held.invocation_id).includes('invocation succeeded'));
    expect(of(admin, held.hold_id ?? '')).toEqual(['hold pending', 'hold released']);
    expect(of(admin, held.invocation_id)).toEqual(['invocation held', 'invocation null', 'invocation succeeded']);
  });

  test('cover runs, policies and queues', async () => {
    const plan = { steps: [{ id: 'one', tool: ADD, args: { a: 2, b: 2 } }] };
    const { run_id } = await asker.runs.submit({ plan });
    await asker.runs.cancel(run_id);
    await eventually(() => of(admin, run_id).includes('run canceled'));
    await system.admin.policies.put('default', { ...HOLD_POLICY, global_timeout_seconds: 60 });
    await system.admin.queues.pause('db');
    await eventually(() => of(admin, 'db').includes('queue paused') && of(admin, 'default').length > 0);
    await system.admin.queues.resume('db');
    expect(of(admin, 'default')).toEqual(['policy put']);
  });

  test('are only those of the tenant, and only what the role may read', async () => {
    const { key } = await system.admin.keys.create({ tenant: 'other', actor: 'eve', roles: ['submit'] });
    const eve = await listen(system.clientFor(key));
    await eventually(async () => {
      await system.admin.queues.resume('browser');
      return of(eve, 'browser').length > 0;
    });
    const { invocation_id } = await asker.submit({ tool_id: ADD, inputs: { a: 3, b: 2 } });
    await system.admin.policies.put('default', { ...HOLD_POLICY, global_timeout_seconds: 61 });
    await eventually(() => of(admin, invocation_id).length > 0);
    await system.admin.queues.pause('browser');
    await eventually(() => of(eve, 'browser').includes('queue paused'));
    expect(eve.filter(({ type }) => type !== 'queue')).toEqual([]);
    await system.admin.queues.resume('browser');
  });

  test('can be limited to some types', async () => {
    const holds = await listen(system.admin, ['hold']);
    await eventually(async () => {
      const { hold_id } = await asker.submit({ tool_id: ADD, inputs: { a: 4, b: 2 } });
      await asker.holds.withdraw(hold_id ?? '');
      return holds.length > 1;
    });
    expect(new Set(holds.map(({ type }) => type))).toEqual(new Set(['hold']));
  });
});

describe('a stream of tenant events', () => {
  test('that was cut resumes with what happened meanwhile, including what was committed late', async () => {
    const system = await startSystem({ name: 'postgres' });
    const read = async (last?: string) => {
      const response = await fetch(`${system.url}/v1/events?types=queue`, {
        headers: { authorization: `Bearer ${ADMIN_KEY}`, ...(last ? { 'last-event-id': last } : {}) },
      });
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      const until = async (words: string) => {
        while (!text.includes(words)) {
          const { value, done } = (await reader?.read()) ?? { done: true };
          if (done) throw new Error(`the stream ended: ${text}`);
          text += value;
        }
        await reader?.cancel();
        return text.match(/id: (\S+)/)?.[1] ?? '';
      };
      return { until };
    };
    const began = await (await read()).until('id: ');
    const { store } = system;
    let commit = () => {};
    const asked = new Promise<void>((resolve) => {
      commit = resolve;
    });
    let inserted = () => {};
    const waits = new Promise<void>((resolve) => {
      inserted = resolve;
    });
    const late = store.db.transaction().execute(async (db) => {
      await sql`INSERT INTO audit (tenant, actor, event, subject, detail)
        VALUES ('default', 'x', 'queue.pause', 'late', '{}')`.execute(db);
      inserted();
      await asked;
    });
    await waits;
    await system.admin.queues.pause('db');
    const paused = await (await read(began)).until('"id":"db"');
    commit();
    await late;
    await (await read(paused)).until('"id":"late"');
  });

  test('of a type that does not exist is refused', async () => {
    const system = await startSystem({ name: 'postgres' });
    const client = createClient({ url: system.url, key: ADMIN_KEY });
    const wrong = client.changes({ types: ['nonsense' as never] });
    await expect(
      (async () => {
        for await (const _ of wrong) break;
      })(),
    ).rejects.toMatchObject({ code: 3002 });
    await client.close();
  });
});
