import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { hardestQueue } from '../fixtures/queues.js';
import { startReceiver } from './start-receiver.js';
import { ALLOW_ALL, type System, startSystem } from './start-system.js';

const ADD = { tool_id: 'cap:test_math:add', inputs: { a: 1, b: 2 } };
const HELD = { tool_id: 'cap:test_weather:get_weather', inputs: { city: 'Bern' } };

describe.each(hardestQueue)('notices about holds on the $name queue', (queue) => {
  let system: System;
  beforeAll(async () => {
    system = await startSystem(queue, { webhooks: { allow_private: true, public_url: 'https://capstan.example' } });
    const hold = { id: 'ask', effect: 'hold', match: { tool: HELD.tool_id } } as const;
    await system.admin.policies.put('default', { ...ALLOW_ALL, rules: [...ALLOW_ALL.rules, hold] });
  });
  const decider = async () => {
    const { key } = await system.admin.keys.create({ tenant: 'default', actor: 'ann', roles: ['operate'] });
    return system.clientFor(key);
  };

  test('the answer to a submission that is held has the hold id', async () => {
    const sent = { ...HELD, idempotency_key: 'the-one-held' };
    const { invocation_id, hold_id, status } = await system.admin.submit(sent);
    expect({ status, hold_id }).toEqual({ status: 'held', hold_id: expect.stringMatching(/^hld_/) });
    expect(await system.admin.holds.get(hold_id ?? '')).toMatchObject({ hold_id, invocation_id });
    expect(await system.admin.submit(sent)).toMatchObject({ invocation_id, hold_id });
    expect(await system.admin.submit(ADD)).toMatchObject({ hold_id: null });
    const { items } = await system.admin.submitBulk([ADD, HELD, sent]);
    expect(items.map((item) => item.hold_id)).toEqual([undefined, expect.stringMatching(/^hld_/), hold_id]);
    await expect(system.admin.holds.get(items[1]?.hold_id ?? '')).resolves.toMatchObject({ status: 'pending' });
  });

  test('a call that was held keeps its hold id after it has ended, alone and in lists', async () => {
    const { invocation_id, hold_id } = await system.admin.submit(HELD);
    await (await decider()).holds.release(hold_id ?? '');
    expect(await system.admin.wait(invocation_id, { timeout_s: 60 })).toMatchObject({ status: 'succeeded', hold_id });
    const { items } = await system.admin.list({ tool_id: HELD.tool_id }).page();
    expect(items.find((item) => item.invocation_id === invocation_id)).toMatchObject({ hold_id });
  });

  test('webhooks get a decision with its comment, secrets redacted', async () => {
    const [receiver, slack] = [await startReceiver(), await startReceiver()];
    const { webhook_id } = await system.admin.webhooks.create({ url: receiver.url, events: ['hold.decided'] });
    const chat = await system.admin.webhooks.create({ url: slack.url, kind: 'slack', events: ['hold.decided'] });
    const ann = await decider();
    const secret = `ghp_${'aB3dE6gH9j'.repeat(4).slice(0, 36)}`;
    const [rejected, released] = [await system.admin.submit(HELD), await system.admin.submit(HELD)];
    await ann.holds.reject(rejected.hold_id ?? '', `not with ${secret}`);
    await eventually(() => receiver.got.length === 1 && slack.got.length === 1);
    await ann.holds.release(released.hold_id ?? '', { comment: 'the weather is fine' });
    await eventually(() => receiver.got.length === 2 && slack.got.length === 2);
    expect(receiver.got.map(({ json }) => json.data)).toMatchObject([
      { status: 'rejected', decided_by: 'ann', comment: expect.stringMatching(/^not with /) },
      { status: 'released', decided_by: 'ann', comment: 'the weather is fine' },
    ]);
    expect(slack.got.map(({ json }) => json.text)).toEqual([
      expect.stringMatching(/^Hold rejected by ann: .* · not with /),
      expect.stringMatching(/^Hold released by ann: .* · the weather is fine$/),
    ]);
    const kept = await ann.holds.get(rejected.hold_id ?? '');
    for (const said of [receiver.got, slack.got, kept]) expect(JSON.stringify(said)).not.toContain(secret);
    for (const id of [webhook_id, chat.webhook_id]) await system.admin.webhooks.remove(id);
  });

  test('webhooks get no comment for a hold whose call was canceled', async () => {
    const receiver = await startReceiver();
    const { webhook_id } = await system.admin.webhooks.create({ url: receiver.url, events: ['hold.decided'] });
    const { invocation_id } = await system.admin.submit(HELD);
    await system.admin.cancel(invocation_id);
    await eventually(() => receiver.got.length === 1);
    expect(receiver.got[0]?.json.data).toMatchObject({ status: 'canceled', comment: null });
    await system.admin.webhooks.remove(webhook_id);
  });
});
