import { describe, expect, test } from 'vitest';
import { createRelay, type Transport } from './relay.js';

/** A transport in memory that sends when the test says so, and hears itself. */
function openRelay({ max_message_bytes = 1000, holds = false, fails = false } = {}) {
  const sent: string[][] = [];
  const errors: unknown[] = [];
  const held: (() => void)[] = [];
  const listeners = new Map<string, (message: string) => void>();
  const hear = (message: string) => listeners.get(message.split(' ')[0] ?? '')?.(message);
  const transport: Transport = {
    rides_on_statements: false,
    publish: async (messages) => {
      sent.push(messages);
      if (holds) await new Promise<void>((resolve) => held.push(resolve));
      if (fails) throw new Error('cut');
      for (const message of messages) hear(message);
    },
    subscribe: (topic, listener) => {
      listeners.set(topic, listener);
    },
    close: () => Promise.resolve(),
  };
  const relay = createRelay(transport, { max_message_bytes, onError: (error) => errors.push(error) });
  return { relay, sent, errors, held, hear };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('a relay', () => {
  test('brings ids to those who listen to their topic, until they leave', async () => {
    const { relay } = openRelay();
    const heard: string[][] = [];
    const off = relay.subscribe('settled', (ids) => heard.push(ids));
    relay.subscribe('cancel', () => heard.push(['wrong topic']));
    relay.publish('settled', ['a', 'b']);
    await relay.close();
    expect(heard).toEqual([['a', 'b']]);
    off();
    relay.publish('settled', ['c']);
    await relay.close();
    expect(heard).toHaveLength(1);
  });

  test('sends a burst as one message, each id once', async () => {
    const { relay, sent } = openRelay();
    for (let index = 0; index < 100; index += 1) relay.publish('settled', [`id${index % 3}`]);
    relay.publish('log', ['id0']);
    await relay.close();
    expect(sent).toEqual([['settled id0 id1 id2', 'log id0']]);
  });

  test('sends what is published during a send together in the next', async () => {
    const { relay, sent, held } = openRelay({ holds: true });
    relay.publish('settled', ['a']);
    await turn();
    relay.publish('settled', ['b']);
    relay.publish('settled', ['c']);
    await turn();
    expect(sent).toEqual([['settled a']]);
    held.shift()?.();
    await turn();
    expect(sent).toEqual([['settled a'], ['settled b c']]);
    held.shift()?.();
    await relay.close();
  });

  test('splits what is too long for one message, between ids', async () => {
    const { relay, sent } = openRelay({ max_message_bytes: 20 });
    relay.publish('log', ['aaaaaaa', 'bbbbbbb', 'ccccccc', 'd'.repeat(30)]);
    await relay.close();
    expect(sent).toEqual([['log aaaaaaa bbbbbbb', 'log ccccccc', `log ${'d'.repeat(30)}`]]);
  });

  test('sends nothing for no ids', async () => {
    const { relay, sent } = openRelay();
    relay.publish('settled', []);
    await relay.close();
    expect(sent).toEqual([]);
  });

  test('reports a send that failed, and goes on', async () => {
    const { relay, sent, errors } = openRelay({ fails: true });
    relay.publish('settled', ['a']);
    await turn();
    relay.publish('settled', ['b']);
    await relay.close();
    expect(sent).toEqual([['settled a'], ['settled b']]);
    expect(errors).toHaveLength(2);
  });

  test('leaves alone what it does not understand', () => {
    const { relay, hear } = openRelay();
    relay.subscribe('settled', () => expect.unreachable());
    hear('tomorrow a b');
    hear('');
  });
});
