import type { Backbone } from '@capstan/backbone';
import type { Topic } from '@capstan/queue';
import { nanoid } from 'nanoid';
import { beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase } from '../fixtures/create-test-database.js';
import { eventually } from '../fixtures/eventually.js';
import { queues } from '../fixtures/queues.js';
import { startTestRedis } from '../fixtures/start-test-redis.js';
import { openTestBackbone, type Servers } from './open-test-backbone.js';
import { query } from './query.js';
import { withRedis } from './with-redis.js';

describe.each(queues)('the relay on $name', ({ name }) => {
  const servers: Servers = { database_url: '' };
  const open = () => openTestBackbone(servers);

  beforeAll(async () => {
    servers.database_url = (await createTestDatabase()).url;
    if (name === 'redis') servers.redis_url = (await startTestRedis()).url;
  });

  /** Two processes that receive signals of the first one on this topic, with no earlier signal still on its way. */
  const openTwo = async (topic: Topic) => {
    const two = [await open(), await open()] as const;
    const heard = two.map(() => new Set<string>());
    const off = two.map(({ relay }, at) =>
      relay.subscribe(topic, (ids) => {
        for (const id of ids) heard[at]?.add(id);
      }),
    );
    const allHeard = (id: string) => heard.every((ids) => ids.has(id));
    await eventually(() => {
      two[0].relay.publish(topic, ['hello']);
      return allHeard('hello');
    });
    two[0].relay.publish(topic, ['last']);
    await eventually(() => allHeard('last'));
    for (const unsubscribe of off) unsubscribe();
    return two;
  };

  test('brings signals to another process, and to the one that sent them', async () => {
    const [one, other] = await openTwo('settled');
    const listen = ({ relay }: Backbone) =>
      new Promise<string[]>((resolve) => void relay.subscribe('settled', resolve));
    const heard = Promise.all([listen(one), listen(other)]);
    one.relay.publish('settled', ['inv_1', 'inv_2']);
    expect(await heard).toEqual([
      ['inv_1', 'inv_2'],
      ['inv_1', 'inv_2'],
    ]);
  });

  test('brings all signals even if they do not fit into one message', async () => {
    const [one, other] = await openTwo('settled');
    const sent = Array.from({ length: 3000 }, () => `inv_${nanoid()}`);
    const heard: string[] = [];
    const all = new Promise<void>((resolve) => {
      other.relay.subscribe('settled', (some) => {
        heard.push(...some);
        if (heard.length >= sent.length) resolve();
      });
    });
    one.relay.publish('settled', sent);
    await all;
    expect(heard.sort()).toEqual(sent.sort());
  });

  test('brings a burst of 5,000 signals in at most three messages', async () => {
    const [one, other] = await openTwo('log');
    let messages = 0;
    const heard = new Set<string>();
    const last = new Promise<void>((resolve) => {
      other.relay.subscribe('log', (some) => {
        messages += 1;
        for (const id of some) heard.add(id);
        if (heard.has('last')) resolve();
      });
    });
    for (let index = 0; index < 5000; index += 1) one.relay.publish('log', [`inv_${index % 100}`]);
    one.relay.publish('log', ['last']);
    await last;
    expect(heard.size).toBe(101);
    expect(messages).toBeLessThanOrEqual(3);
  });

  test('says when signals begin to arrive, also after an interruption, because earlier ones may have been missed', async () => {
    const { relay } = await open();
    let begun = 0;
    relay.subscribe(
      'log',
      () => {},
      () => {
        begun += 1;
      },
    );
    await eventually(() => begun > 0);
    const before = begun;
    await interrupt(servers);
    await eventually(() => begun > before);
  });

  test('brings the contents of a pg_notify to every process that receives at its address', async () => {
    const [one, other] = [await open(), await open()];
    const heard: string[][] = [[], []];
    one.relay.receive('ended', (contents) => heard[0]?.push(contents));
    other.relay.receive('ended', (contents) => heard[1]?.push(contents));
    other.relay.receive('given:wrk_1', () => heard[1]?.push('wrong address'));
    const send = (contents: string) =>
      query(servers.database_url, 'SELECT pg_notify($1, $2)', ['capstan_ended', `ended ${contents}`]);
    await eventually(async () => {
      await send('hello');
      return heard.every((contents) => contents.includes('hello'));
    });
    const contents = JSON.stringify({ text: 'two  blanks, "quotes" and ünïcode' });
    await send(contents);
    await eventually(() => heard.every((all) => all.at(-1) === contents));
    expect(heard.flat().filter((text) => text !== 'hello')).toEqual([contents, contents]);
  });

  test('brings the contents of a pg_notify again after its connection was lost', async () => {
    const { relay } = await open();
    const heard = new Set<string>();
    relay.receive('ended', (contents) => heard.add(contents));
    const sendUntilHeard = (contents: string) =>
      eventually(async () => {
        await query(servers.database_url, 'SELECT pg_notify($1, $2)', ['capstan_ended', `ended ${contents}`]);
        return heard.has(contents);
      });
    await sendUntilHeard('before');
    await endListeners(servers);
    await sendUntilHeard('after');
  });
});

/** Ends the connections of all processes that signals arrive on. */
async function interrupt(servers: Servers): Promise<void> {
  const { redis_url } = servers;
  if (redis_url) await withRedis(redis_url, (redis) => redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub'));
  else await endListeners(servers);
}

const endListeners = ({ database_url }: Servers) =>
  query(
    database_url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE application_name = 'capstan-signals' AND datname = current_database()`,
  );
