import { createHmac, timingSafeEqual } from 'node:crypto';
import { holdIdOf } from '@capstan/contracts';
import { request } from 'undici';
import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { hardestQueue } from '../fixtures/queues.js';
import { type Got, startReceiver } from './start-receiver.js';
import { ADMIN_KEY, ALLOW_ALL, type System, startSystem } from './start-system.js';

const ADD = { tool_id: 'cap:test_math:add', inputs: { a: 1, b: 2 } };
const HELD = { tool_id: 'cap:test_weather:get_weather', inputs: { city: 'Bern' } };

const DENIED = { path: 'private-name.txt', content: 'x' };

const REASON = 'somebody looks at the weather first';

const idOf = ({ headers }: Got) => String(headers['webhook-id']);
/** Checks a signature by the Standard Webhooks specification, without the library that signs. */
function isSigned(secret: string, { body, headers }: Got): boolean {
  const [version, signature = ''] = String(headers['webhook-signature']).split(',');
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const expected = createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
    .update(signed)
    .digest();
  const given = Buffer.from(signature, 'base64');
  const recent = Math.abs(Date.now() / 1000 - Number(headers['webhook-timestamp'])) < 300;
  return version === 'v1' && recent && given.length === expected.length && timingSafeEqual(given, expected);
}

describe.each(hardestQueue)('a webhook on the $name queue', (queue) => {
  let system: System;
  beforeAll(async () => {
    system = await startSystem(queue, {
      webhooks: {
        allow_private: true,
        public_url: 'https://capstan.example',
        backoff: { first_ms: 20, most_ms: 40, give_up_ms: 1500 },
      },
    });
    const hold = { id: 'ask', effect: 'hold', match: { tool: HELD.tool_id }, reason: REASON } as const;
    await system.admin.policies.put('default', { ...ALLOW_ALL, rules: [...ALLOW_ALL.rules, hold] });
  });
  const heard = (receiver: { got: Got[] }, count: number) =>
    eventually(() => (receiver.got.length >= count ? receiver.got : false));

  test('sends its endpoint the end of a call, signed, with the result', async () => {
    const receiver = await startReceiver();
    const { webhook_id, secret } = await system.admin.webhooks.create({ url: receiver.url, events: ['invocation.*'] });
    const { invocation_id } = await system.admin.submit(ADD, { wait_s: 30 });
    const [first] = await heard(receiver, 1);
    if (!first) throw new Error('nothing was told');
    expect(isSigned(secret, first)).toBe(true);
    expect(first.json).toMatchObject({
      type: 'invocation.succeeded',
      data: { invocation_id, status: 'succeeded', tool_id: ADD.tool_id, result: { success: true } },
    });
    expect(isSigned('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', first)).toBe(false);
    expect(isSigned(secret, { ...first, body: `${first.body} ` })).toBe(false);
    const [delivery] = (
      await eventually(async () => {
        const log = await system.admin.webhooks.deliveries(webhook_id).page();
        return log.items[0]?.state === 'delivered' && log;
      })
    ).items;
    expect(delivery).toMatchObject({
      subject: invocation_id,
      attempts: 1,
      response_status: 204,
      event_id: idOf(first),
    });
    expect(JSON.stringify(await system.admin.webhooks.get(webhook_id))).not.toContain('whsec_');
    await expect(
      system.admin.submit({ ...ADD, mode: 'planning', tool_id: 'fs.write', inputs: DENIED }),
    ).rejects.toThrow();
    const [, denied] = await heard(receiver, 2);
    expect(denied?.json).toMatchObject({
      type: 'invocation.denied',
      data: { decision: { effect: 'deny', code: expect.anything() } },
    });
    expect(denied?.body).not.toContain(DENIED.path);
    await system.admin.webhooks.remove(webhook_id);
  });

  test('is retried under the same id until it is accepted, and can be redelivered', async () => {
    const receiver = await startReceiver();
    receiver.answers.push(500, 503);
    const { webhook_id } = await system.admin.webhooks.create({ url: receiver.url, events: ['invocation.succeeded'] });
    await system.admin.submit(ADD, { wait_s: 30 });
    const tries = await heard(receiver, 3);
    expect(new Set(tries.map(idOf)).size).toBe(1);
    const { items } = await eventually(async () => {
      const log = await system.admin.webhooks.deliveries(webhook_id).page();
      return log.items[0]?.state === 'delivered' && log;
    });
    expect(items).toMatchObject([{ attempts: 3, error: null }]);
    await system.admin.webhooks.redeliver(webhook_id, items[0]?.delivery_id ?? '');
    const again = await heard(receiver, 4);
    expect(new Set(again.map(idOf)).size).toBe(1);
    await system.admin.webhooks.remove(webhook_id);
  });

  test('that keeps failing is disabled, and other webhooks are notified', async () => {
    const [broken, watcher] = [await startReceiver(), await startReceiver()];
    broken.otherwise = 500;
    const notices = await system.admin.webhooks.create({ url: watcher.url, events: ['webhook.disabled'] });
    const { webhook_id } = await system.admin.webhooks.create({ url: broken.url, events: ['invocation.*'] });
    await system.admin.submit(ADD, { wait_s: 30 });
    const [notice] = await heard(watcher, 1);
    expect(notice?.json).toMatchObject({ type: 'webhook.disabled', data: { webhook_id } });
    expect(await system.admin.webhooks.get(webhook_id)).toMatchObject({
      enabled: false,
      disabled_reason: expect.stringContaining('500'),
    });
    expect(await system.admin.webhooks.change(webhook_id, { enabled: true })).toMatchObject({
      enabled: true,
      disabled_reason: null,
    });
    await system.admin.webhooks.remove(webhook_id);
    await system.admin.webhooks.remove(notices.webhook_id);
  });

  test('that was disabled by a person gets nothing, not even a redelivery, and its pending deliveries fail', async () => {
    const [receiver, watcher] = [await startReceiver(), await startReceiver()];
    receiver.otherwise = 500;
    const { webhook_id } = await system.admin.webhooks.create({ url: receiver.url, events: ['invocation.*'] });
    const other = await system.admin.webhooks.create({ url: watcher.url, events: ['invocation.*'] });
    const call = await system.admin.submit(ADD, { wait_s: 30 });
    await heard(receiver, 2);
    await system.admin.webhooks.change(webhook_id, { enabled: false });
    await system.admin.submit(ADD, { wait_s: 30 });
    await heard(watcher, 2);
    const tries = receiver.got.length;
    const { items } = await system.admin.webhooks.deliveries(webhook_id).page();
    expect(items).toMatchObject([
      { subject: call.invocation_id, state: 'failed', error: 'its endpoint was disabled', next_at: null },
    ]);
    const { delivery_id = '' } = items[0] ?? {};
    await expect(system.admin.webhooks.redeliver(webhook_id, delivery_id)).rejects.toMatchObject({
      status: 409,
      detail: expect.stringContaining('disabled by admin'),
    });
    await system.admin.submit(ADD, { wait_s: 30 });
    await heard(watcher, 3);
    expect(receiver.got).toHaveLength(tries);

    receiver.otherwise = 204;
    await system.admin.webhooks.change(webhook_id, { enabled: true });
    await system.admin.webhooks.redeliver(webhook_id, delivery_id);
    await eventually(async () =>
      expect((await system.admin.webhooks.deliveries(webhook_id).page()).items).toMatchObject([
        { delivery_id, state: 'delivered' },
      ]),
    );
    expect(new Set(receiver.got.map(idOf)).size).toBe(1);
    for (const id of [webhook_id, other.webhook_id]) await system.admin.webhooks.remove(id);
  });

  test('that answers 410 Gone is disabled at once', async () => {
    const receiver = await startReceiver();
    receiver.otherwise = 410;
    const { webhook_id } = await system.admin.webhooks.create({ url: receiver.url });
    await system.admin.submit(ADD, { wait_s: 30 });
    await eventually(async () => expect(await system.admin.webhooks.get(webhook_id)).toMatchObject({ enabled: false }));
    expect(receiver.got).toHaveLength(1);
    await system.admin.webhooks.remove(webhook_id);
  });

  test('of a single call is signed with the secret of its tenant', async () => {
    const receiver = await startReceiver();
    const { secret } = await system.admin.webhooks.replaceSecret();
    const { invocation_id } = await system.admin.submit({ ...ADD, webhook_url: receiver.url }, { wait_s: 30 });
    const [first] = await heard(receiver, 1);
    if (!first) throw new Error('nothing was told');
    expect(isSigned(secret, first)).toBe(true);
    expect(first.json).toMatchObject({ data: { invocation_id } });
    expect((await system.admin.webhooks.deliveries('urls').page()).items[0]).toMatchObject({ subject: invocation_id });
  });

  test('gets the end of a plan run and of a bulk submission', async () => {
    const [receiver, all] = [await startReceiver(), await startReceiver()];
    const { webhook_id } = await system.admin.webhooks.create({ url: all.url, events: ['run.*'] });
    const plan = { steps: [{ tool: ADD.tool_id, args: ADD.inputs }] };
    const { run_id } = await system.admin.runs.submit({ plan, webhook_url: receiver.url });
    const bulk = await system.admin.submitBulk([ADD, ADD, ADD]);
    expect((await heard(receiver, 1))[0]?.json).toMatchObject({ type: 'run.completed', data: { run_id } });
    const told = await heard(all, 2);
    expect(told.map(({ json }) => json.data.run_id).sort()).toEqual([run_id, bulk.run_id].sort());
    await system.admin.webhooks.remove(webhook_id);
  });

  test('of kind slack gets a text with a link', async () => {
    const receiver = await startReceiver();
    const { webhook_id } = await system.admin.webhooks.create({
      url: receiver.url,
      kind: 'slack',
      events: ['invocation.*'],
    });
    const { invocation_id } = await system.admin.submit(ADD, { wait_s: 30 });
    const [first] = await heard(receiver, 1);
    expect(first?.json.text).toContain(`<https://capstan.example/invocations/${invocation_id}|${invocation_id}>`);
    await system.admin.webhooks.remove(webhook_id);
  });

  test('gets a URL in place of a large result', async () => {
    const receiver = await startReceiver();
    const large = { tool_id: 'shell.run', inputs: { cmd: ['seq', '20000'] } };
    const { invocation_id } = await system.admin.submit({ ...large, webhook_url: receiver.url }, { wait_s: 30 });
    const [told] = await heard(receiver, 1);
    expect(told?.json.data).toMatchObject({
      result: { success: true, payload: null, output_hash: expect.stringMatching(/^sha256:/) },
      result_omitted: true,
      result_url: `https://capstan.example/v1/invocations/${invocation_id}`,
    });
    expect(told?.body.length).toBeLessThan(10_000);
  });

  test('gets the creation, the nearing expiry and the decision of a hold, and Slack gets a link to it', async () => {
    const [receiver, slack] = [await startReceiver(), await startReceiver()];
    const { webhook_id, secret } = await system.admin.webhooks.create({ url: receiver.url, events: ['hold.*'] });
    const chat = await system.admin.webhooks.create({ url: slack.url, kind: 'slack', events: ['hold.*'] });
    const { invocation_id } = await system.admin.submit({ ...HELD, expires_in_ms: 2_000 });
    const hold_id = holdIdOf(invocation_id);
    const { reason, risk } = await system.admin.holds.get(hold_id);
    expect(reason).toBe(REASON);
    const hold_url = `https://capstan.example/v1/holds/${hold_id}`;
    const told = await heard(receiver, 3);
    expect(told.every((one) => isSigned(secret, one))).toBe(true);
    expect(told.map(({ json }) => json)).toMatchObject([
      {
        type: 'hold.created',
        data: { hold_id, tool_id: HELD.tool_id, actor: 'admin', status: 'pending', reason, risk, hold_url },
      },
      { type: 'hold.expiring', data: { hold_id, status: 'pending', reason, risk, hold_url } },
      { type: 'hold.decided', data: { hold_id, status: 'expired', hold_url } },
    ]);
    expect(JSON.stringify(told)).not.toContain('Bern');
    const link = `<https://capstan.example/approvals/${hold_id}|${hold_id}>`;
    const texts = (await heard(slack, 3)).map(({ json }) => json.text);
    expect(texts).toEqual([
      expect.stringContaining(
        `Approval needed: ${HELD.tool_id} · ${link} · risk ${risk} · ${REASON} · asked by admin · until `,
      ),
      expect.stringContaining(`Approval expires soon: ${HELD.tool_id} · ${link} · risk ${risk} · ${REASON} · until `),
      `Hold expired: ${HELD.tool_id} · ${link}`,
    ]);
    const linked = await request(hold_url.replace('https://capstan.example', system.url), {
      headers: { authorization: `Bearer ${ADMIN_KEY}` },
    });
    expect(await linked.body.json()).toMatchObject({ hold_id });
    for (const id of [webhook_id, chat.webhook_id]) await system.admin.webhooks.remove(id);
  });

  test('is invisible to other tenants and gets nothing of their calls', async () => {
    const receiver = await startReceiver();
    const { webhook_id } = await system.admin.webhooks.create({ url: receiver.url });
    const { key } = await system.admin.keys.create({ tenant: 'globex', actor: 'gil', roles: ['admin', 'submit'] });
    const other = system.clientFor(key);
    await expect(other.webhooks.get(webhook_id)).rejects.toMatchObject({ status: 404 });
    await expect(other.webhooks.deliveries(webhook_id).page()).rejects.toMatchObject({ status: 404 });
    await other.submit(ADD, { wait_s: 30 });
    const { invocation_id } = await system.admin.submit(ADD, { wait_s: 30 });
    expect((await heard(receiver, 1)).map(({ json }) => json.data.invocation_id)).toEqual([invocation_id]);
    await system.admin.webhooks.remove(webhook_id);
    await expect(
      system.admin.webhooks.create({ url: receiver.url, events: ['invocation.done'] }),
    ).rejects.toMatchObject({ status: 400 });
  });
});

describe('a private address', () => {
  let system: System;
  beforeAll(async () => {
    system = await startSystem(
      { name: 'postgres' },
      { webhooks: { backoff: { first_ms: 20, most_ms: 40, give_up_ms: 200 } } },
    );
  });
  const PRIVATE = [
    'http://127.0.0.1:9/hook',
    'http://localhost/hook',
    'http://[::ffff:10.0.0.1]/hook',
    'http://0x7f.1/hook',
    'http://169.254.169.254/latest',
    'https://user:password@example.com/hook',
  ];

  test.each(PRIVATE)('is refused as the URL of a new or a changed webhook: %s', async (url) => {
    const refused = { status: 400, problem: { errors: [{ field: 'url' }] } };
    await expect(system.admin.webhooks.create({ url })).rejects.toMatchObject(refused);
    const { webhook_id } = await system.admin.webhooks.create({ url: 'https://hooks.invalid/later' });
    await expect(system.admin.webhooks.change(webhook_id, { url })).rejects.toMatchObject(refused);
    expect((await system.admin.webhooks.get(webhook_id)).url).toBe('https://hooks.invalid/later');
  });

  test.each(PRIVATE)('is refused as the webhook_url of a call, a plan and a schedule: %s', async (webhook_url) => {
    const refused = { status: 400, problem: { errors: [{ field: 'webhook_url' }] } };
    await expect(system.admin.submit({ ...ADD, webhook_url })).rejects.toMatchObject(refused);
    const plan = { steps: [{ tool: ADD.tool_id, args: ADD.inputs }] };
    await expect(system.admin.runs.submit({ plan, webhook_url })).rejects.toMatchObject(refused);
    await expect(system.admin.schedules.create({ ...ADD, every_ms: 60_000, webhook_url })).rejects.toMatchObject(
      refused,
    );
    const { items } = await system.admin.submitBulk([ADD, { ...ADD, webhook_url }]);
    expect(items.map(({ status }) => status)).toEqual(['queued', 'invalid']);
  });

  test('gets no request even if the gateway accepted it, and the delivery log says why', async () => {
    const lenient = await startSystem(
      { name: 'postgres' },
      {
        gateway: { webhook_allow_private: true },
        webhooks: { allow_private: false, backoff: { first_ms: 20, most_ms: 40, give_up_ms: 200 } },
      },
    );
    const receiver = await startReceiver();
    await lenient.admin.submit({ ...ADD, webhook_url: receiver.url }, { wait_s: 30 });
    await eventually(async () => {
      const { items } = await lenient.admin.webhooks.deliveries('urls').page();
      expect(items).toMatchObject([{ state: 'failed', error: expect.stringContaining('EGRESS_DENIED') }]);
    });
    expect(receiver.got).toEqual([]);
  });
});
