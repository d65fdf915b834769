import { createHmac } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Client } from '@capstan/client';
import type { JsonObject } from '@capstan/contracts';
import { SMTPServer } from 'smtp-server';
import { beforeAll, describe, expect, test } from 'vitest';
import { atEnd } from '../fixtures/at-end.js';
import { eventually } from '../fixtures/eventually.js';
import { HOLD_POLICY, newActor } from './on-held-sums.js';
import { refusalOf } from './refusal-of.js';
import { startReceiver } from './start-receiver.js';
import { type System, startSystem } from './start-system.js';

const ADD = 'cap:test_math:add';
const SIGNING_SECRET = '8f742231b10e8888abcd99aabbcc85a5';
const PUBLIC_URL = 'https://capstan.example';

let system: System;
let asker: Client;
let bob: Client;
const mails: { to: string; content: string }[] = [];

beforeAll(async () => {
  const smtp = await startMailServer();
  system = await startSystem(
    { name: 'postgres' },
    {
      webhooks: { allow_private: true, public_url: PUBLIC_URL, mail: { smtp_url: smtp, from: 'capstan@example.com' } },
    },
  );
  await system.admin.policies.put('default', HOLD_POLICY);
  [asker, bob] = await Promise.all([newActor(system, 'asker', ['submit']), newActor(system, 'bob', ['operate'])]);
});

async function startMailServer(): Promise<string> {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData: (stream, { envelope }, done) => {
      text(stream).then((content) => {
        mails.push({
          to: envelope.rcptTo.map(({ address }) => address).join(),
          content: content.replace(/=\r\n/g, ''),
        });
        done();
      }, done);
    },
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  atEnd(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo;
  return `smtp://127.0.0.1:${port}`;
}

const hold = async (inputs: JsonObject, client = asker) => {
  const { hold_id, invocation_id } = await client.submit({ tool_id: ADD, inputs });
  return { hold_id: hold_id ?? '', invocation_id };
};

describe('a hold in Slack', () => {
  type Block = { type: string; elements?: { action_id?: string; value?: string }[] };
  let channel: Awaited<ReturnType<typeof startReceiver>>;
  let answers: Awaited<ReturnType<typeof startReceiver>>;
  let webhook_id: string;

  beforeAll(async () => {
    [channel, answers] = await Promise.all([startReceiver(), startReceiver()]);
    ({ webhook_id } = await system.admin.webhooks.create({
      url: channel.url,
      kind: 'slack',
      events: ['hold.created'],
      secret: SIGNING_SECRET,
      users: { U1ANN: 'ann', U2BOB: 'bob', U3ASK: 'asker' },
    }));
  });

  const messageOf = async (hold_id: string) => {
    const find = () => channel.got.find(({ body }) => body.includes(hold_id));
    await eventually(() => find() !== undefined);
    return JSON.parse(find()?.body ?? '') as { text: string; blocks: Block[] };
  };
  const buttonOf = ({ blocks }: { blocks: Block[] }, action_id: string): string =>
    blocks.flatMap(({ elements = [] }) => elements).find((each) => each.action_id === action_id)?.value ?? '';

  type Press = { user: string; action_id: 'release' | 'reject'; value: string; comment?: string };
  const bodyOf = ({ user, action_id, value, comment }: Press) =>
    new URLSearchParams({
      payload: JSON.stringify({
        type: 'block_actions',
        user: { id: user, team_id: 'T1' },
        trigger_id: Math.random().toString(36),
        response_url: answers.url,
        actions: [{ action_id, value, type: 'button' }],
        state: { values: { comment: { comment: { type: 'plain_text_input', value: comment ?? null } } } },
      }),
    }).toString();
  const send = async (body: string, { secret = SIGNING_SECRET, age_s = 0 } = {}) => {
    const sent_at = String(Math.floor(Date.now() / 1000) - age_s);
    const signature = `v0=${createHmac('sha256', secret).update(`v0:${sent_at}:${body}`).digest('hex')}`;
    const again = () =>
      fetch(`${system.url}/v1/webhooks/${webhook_id}/slack`, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'x-slack-request-timestamp': sent_at,
          'x-slack-signature': signature,
        },
        body,
      });
    return { answer: await again(), again };
  };
  const press = async (pressed: Press) => (await send(bodyOf(pressed))).answer.json();

  test('is shown with its inputs, and released by two people who press a button', async () => {
    const { hold_id, invocation_id } = await hold({ a: 120, b: 3 });
    const message = await messageOf(hold_id);
    expect(message.text).toContain(`<${PUBLIC_URL}/approvals/${hold_id}|${hold_id}>`);
    expect(JSON.stringify(message.blocks)).toContain('\\"a\\": 120');
    const value = buttonOf(message, 'release');
    expect(await press({ user: 'U1ANN', action_id: 'release', value, comment: 'fine' })).toEqual({
      ok: true,
      text: `${hold_id} is still held: 1 of 2 have approved.`,
    });
    expect(await press({ user: 'U2BOB', action_id: 'release', value })).toMatchObject({ ok: true });
    expect(await asker.wait(invocation_id, { timeout_s: 60 })).toMatchObject({ status: 'succeeded' });
    const { votes } = await bob.holds.get(hold_id);
    expect(votes).toMatchObject([
      { actor: 'ann', comment: 'fine', identity: { iss: 'https://slack.com', sub: 'T1/U1ANN' } },
      { actor: 'bob', comment: null },
    ]);
    await eventually(() => answers.got.some(({ body }) => body.includes(`${hold_id} is approved by bob.`)));
  });

  test('is rejected with the reason that was typed', async () => {
    const { hold_id } = await hold({ a: 5, b: 1 });
    const value = buttonOf(await messageOf(hold_id), 'reject');
    await press({ user: 'U1ANN', action_id: 'reject', value, comment: 'the sum is wrong' });
    expect(await bob.holds.get(hold_id)).toMatchObject({
      status: 'rejected',
      votes: [{ comment: 'the sum is wrong' }],
    });
  });

  test('cannot be decided by a user who is not listed, nor released by whoever submitted the call', async () => {
    const { hold_id } = await hold({ a: 6, b: 1 });
    const value = buttonOf(await messageOf(hold_id), 'release');
    expect(await press({ user: 'U9EVE', action_id: 'release', value })).toMatchObject({ ok: false });
    expect(await press({ user: 'U3ASK', action_id: 'release', value })).toMatchObject({
      ok: false,
      text: expect.stringContaining('the submitter of a call may not release it'),
    });
    expect(await bob.holds.get(hold_id)).toMatchObject({ status: 'pending', votes: [] });
    await eventually(() => answers.got.some(({ body }) => body.includes('"ephemeral"')));
  });

  test('is not released by a button that was shown before the inputs changed', async () => {
    const { hold_id } = await hold({ a: 130, b: 1 });
    const value = buttonOf(await messageOf(hold_id), 'release');
    await bob.holds.release(hold_id, { inputs: { a: 131, b: 1 } });
    expect(await press({ user: 'U1ANN', action_id: 'release', value })).toMatchObject({
      ok: false,
      text: expect.stringContaining('changed meanwhile'),
    });
    await asker.holds.withdraw(hold_id);
  });

  test('cannot be decided by a request that is forged, too old or replayed', async () => {
    const { hold_id } = await hold({ a: 140, b: 1 });
    const value = buttonOf(await messageOf(hold_id), 'release');
    const body = bodyOf({ user: 'U1ANN', action_id: 'release', value });
    for (const forged of [{ secret: '0'.repeat(32) }, { age_s: 310 }, { age_s: -600 }])
      expect((await send(body, forged)).answer.status).toBe(401);
    expect((await bob.holds.get(hold_id)).votes).toEqual([]);
    const { answer, again } = await send(body);
    expect(answer.status).toBe(200);
    const replayed = await again();
    expect([replayed.status, await replayed.json()]).toMatchObject([401, { detail: 'The request was taken before.' }]);
    await asker.holds.withdraw(hold_id);
  });

  test('has no buttons if the webhook lists no users', async () => {
    const plain = await startReceiver();
    await system.admin.webhooks.create({ url: plain.url, kind: 'slack', events: ['hold.created'] });
    const { hold_id } = await hold({ a: 7, b: 1 });
    await eventually(() => plain.got.length === 1);
    expect(Object.keys(plain.got[0]?.json ?? {})).toEqual(['text']);
    await asker.holds.withdraw(hold_id);
  });
});

test('a hold in Teams is a card with a link to its page', async () => {
  const teams = await startReceiver();
  await system.admin.webhooks.create({ url: teams.url, kind: 'teams', events: ['hold.created'] });
  const { hold_id } = await hold({ a: 8, b: 1 });
  await eventually(() => teams.got.length === 1);
  expect(teams.got[0]?.json).toMatchObject({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          type: 'AdaptiveCard',
          body: expect.arrayContaining([
            { type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: 'sums need a person' }] },
          ]),
          actions: [{ type: 'Action.OpenUrl', url: `${PUBLIC_URL}/approvals/${hold_id}` }],
        },
      },
    ],
  });
  await asker.holds.withdraw(hold_id);
});

describe('a hold in an email', () => {
  const follow = (link: string, method = 'GET') =>
    fetch(link.replace(PUBLIC_URL, system.url), { method, redirect: 'manual' });

  test('has a link to its page for each recipient, which works once and logs nobody in', async () => {
    const url = 'mailto:ann@example.com,bob@example.com';
    const { webhook_id } = await system.admin.webhooks.create({ url, kind: 'email', events: ['hold.created'] });
    const { hold_id } = await hold({ a: 9, b: 1 });
    await eventually(() => mails.length === 2);
    expect(mails.map(({ to }) => to)).toEqual(['ann@example.com', 'bob@example.com']);
    const [first = '', second = ''] = mails.map(({ content }) => {
      expect(content).toMatch(/^Subject: Approval needed: cap:test_math:add\r$/m);
      expect(content).toContain('sums need a person');
      return /https:\/\/\S+/.exec(content)?.[0] ?? '';
    });
    expect(first).toContain(`${PUBLIC_URL}/v1/webhooks/${webhook_id}/links/`);
    // Link checkers send HEAD, which must not use the link up.
    expect((await follow(first, 'HEAD')).status).toBe(302);
    const followed = await follow(first);
    expect([followed.status, followed.headers.get('location')]).toEqual([302, `/approvals/${hold_id}`]);
    expect((await follow(first)).status).toBe(410);
    const forged = second.replace(hold_id, (await hold({ a: 10, b: 1 })).hold_id);
    expect((await follow(forged)).status).toBe(410);
    expect((await follow(second)).status).toBe(302);
    // Following the link is not a login.
    expect((await fetch(`${system.url}/v1/holds/${hold_id}`)).status).toBe(401);
  });

  test('needs a mailto: URL with valid addresses, and no other kind of webhook takes one', async () => {
    const refused = async (webhook: object) => (await refusalOf(system.admin.webhooks.create(webhook as never))).code;
    expect(await refused({ url: 'mailto:nobody', kind: 'email' })).toBe(3002);
    expect(await refused({ url: 'https://example.com', kind: 'email' })).toBe(3002);
    expect(await refused({ url: 'mailto:ann@example.com' })).toBe(3002);
    expect(await refused({ url: 'https://example.com', kind: 'teams', users: { U1: 'ann' } })).toBe(3002);
    expect(await refused({ url: 'https://example.com', kind: 'slack', users: { U1: 'ann' } })).toBe(3002);
  });
});
