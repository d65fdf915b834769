import { describe, expect, test } from 'vitest';
import { createRelay, type Transport } from './relay.js';

/** An in-memory transport that sends on command of the test and receives its own messages. `contents`: messages with contents go another way. */
function openRelay({ max_message_bytes = 1000, holds = false, fails = false, rides = false, contents = false } = {}) {
  const sent: string[][] = [];
  const errors: unknown[] = [];
  const held: (() => void)[] = [];
  const listeners = new Map<string, (message: string) => void>();
  const hear = (message: string) => listeners.get(message.split(' ')[0] ?? '')?.(message);
  const transport: Transport = {
    rides_on_statements: rides,
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
  const addressed = new Map<string, (message: string) => void>();
  const closed: string[] = [];
  const statements: Transport = {
    rides_on_statements: true,
    publish: async (messages) => void sent.push(messages.map((message) => `by a statement: ${message}`)),
    subscribe: (address, listener) => void addressed.set(address, listener),
    close: async () => void closed.push('statements'),
  };
  const onError = (error: unknown) => errors.push(error);
  const relay = createRelay(transport, { max_message_bytes, onError, ...(contents ? { statements } : {}) });
  /** Simulates a message sent by a statement of any process. */
  const sendTo = (address: string, text: string) =>
    (contents ? addressed : listeners).get(address)?.(`${address} ${text}`);
  return { relay, sent, errors, held, hear, sendTo, listeners, addressed, closed };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('a relay', () => {
  test('delivers ids to the listeners of their topic, until they unsubscribe', async () => {
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

  test('combines signals published during a send in the next one', async () => {
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

  test('splits a signal that is too long for one message, between ids', async () => {
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

  test('reports a failed send, and continues', async () => {
    const { relay, sent, errors } = openRelay({ fails: true });
    relay.publish('settled', ['a']);
    await turn();
    relay.publish('settled', ['b']);
    await relay.close();
    expect(sent).toEqual([['settled a'], ['settled b']]);
    expect(errors).toHaveLength(2);
  });

  test('ignores messages that it does not understand', () => {
    const { relay, hear } = openRelay();
    relay.subscribe('settled', () => expect.unreachable());
    hear('tomorrow a b');
    hear('');
  });
});

describe('signals that ride on a statement', () => {
  test('are the messages that would be published, split in the same way', () => {
    const { relay, sent } = openRelay({ rides: true, max_message_bytes: 20 });
    expect(relay.riding('log', ['aaaaaaa', 'bbbbbbb', 'ccccccc'])).toEqual(['log aaaaaaa bbbbbbb', 'log ccccccc']);
    expect(relay.riding('log', ['a', 'a'])).toEqual(['log a']);
    expect(relay.riding('log', [])).toEqual([]);
    expect(sent).toEqual([]);
  });

  test('do not exist if signals do not travel through Postgres', () => {
    const { relay } = openRelay();
    expect(relay.riding('log', ['a'])).toBeNull();
  });

  test('always include the offers of workers, whichever way other signals travel', async () => {
    const { relay, sent, addressed } = openRelay({ contents: true });
    expect(relay.riding('room', ['wrk_1/exec/2'])).toEqual(['room wrk_1/exec/2']);
    relay.publish('room', ['wrk_1/exec/2']);
    relay.publish('log', ['a']);
    relay.subscribe('room', () => {});
    await relay.close();
    expect(sent).toEqual([['by a statement: room wrk_1/exec/2'], ['log a']]);
    expect([...addressed.keys()]).toEqual(['room']);
  });
});

describe.each([
  { what: 'signals and contents share', contents: false },
  { what: 'only statements carry', contents: true },
])('messages with contents, where $what a transport', ({ contents }) => {
  test('reach every receiver of their address unchanged, until it unsubscribes', () => {
    const { relay, sendTo } = openRelay({ contents });
    const heard: string[] = [];
    const off = relay.receive('given:wrk_1', (text) => heard.push(`one ${text}`));
    relay.receive('given:wrk_1', (text) => heard.push(`two ${text}`));
    relay.receive('given:wrk_2', () => heard.push('wrong address'));
    sendTo('given:wrk_1', '{"text":"a  b c"}');
    expect(heard).toEqual(['one {"text":"a  b c"}', 'two {"text":"a  b c"}']);
    off();
    sendTo('given:wrk_1', 'again');
    expect(heard.slice(2)).toEqual(['two again']);
  });

  test('do not reach listeners of topics', () => {
    const { relay, sendTo, listeners } = openRelay({ contents });
    relay.subscribe('settled', () => expect.unreachable());
    relay.receive('ended', () => {});
    sendTo('ended', 'settled inv_1');
    expect(listeners.has('ended')).toBe(!contents);
  });

  test('are reported if their receiver cannot read them, and the next ones arrive', () => {
    const { relay, errors, hear } = openRelay();
    const heard: unknown[] = [];
    relay.receive('ended', (text) => heard.push(JSON.parse(text)));
    hear('ended not what this version writes');
    hear('ended [1]');
    expect(heard).toEqual([[1]]);
    expect(errors).toHaveLength(1);
  });

  test('need not be sent to a receiver in the same process', () => {
    const { relay, sent } = openRelay({ contents });
    const heard: string[] = [];
    expect(relay.receiverHere('given:wrk_1')).toBeUndefined();
    const off = relay.receive('given:wrk_1', (text) => heard.push(text));
    relay.receiverHere('given:wrk_1')?.('a call');
    expect([heard, sent]).toEqual([['a call'], []]);
    off();
    expect(relay.receiverHere('given:wrk_1')).toBeUndefined();
  });
});

test('a relay closes the transport of contents as well', async () => {
  const { relay, closed } = openRelay({ contents: true });
  await relay.close();
  expect(closed).toEqual(['statements']);
});
