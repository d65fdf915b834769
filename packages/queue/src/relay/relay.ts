/**
 * Carries signals between processes: that something changed, never what. Whoever hears one looks in Postgres. Signals may
 * be lost, so each has a slow backstop where it is heard.
 */
export interface Relay {
  publish(topic: Topic, ids: readonly string[]): void;
  /**
   * The messages that say the same, for a statement to send as it commits, where signals travel through Postgres: two
   * round trips less than publishing afterwards. Null where they do not; then publish.
   */
  riding(topic: Topic, ids: readonly string[]): string[] | null;
  /** `onListening` is called whenever listening begins, also after an interruption: what was said before may have been missed. */
  subscribe(topic: Topic, listener: (ids: string[]) => void, onListening?: () => void): () => void;
  /**
   * Messages to one address that carry more than ids: calls for a worker, results for gateways. They travel through Postgres
   * alone, sent by the statement that commits what they say (Redis keeps job data and messages in clear text).
   */
  receive(address: string, receiver: (contents: string) => void): () => void;
  /** The receiver in this very process, if there is one: what it is told needs no message. */
  receiverHere(address: string): ((contents: string) => void) | undefined;
  close(): Promise<void>;
}

/**
 * settled: invocations that ended, for those who wait for them · followed: those among them that the coordinator has to do
 * with: steps, calls under a quota, ends that somebody is told of; most are none · changed: another status · log: new log lines · cancel: running ones to stop ·
 * ready: runner types with work that waits for a worker · room: what workers offer to take at once ·
 * flow: whether calls may go past those that wait (Redis queue) · due: the coordinator's next deadline may be nearer ·
 * refresh: what every process keeps in memory (keys, policies, queues)
 */
export type Topic =
  | 'settled'
  | 'followed'
  | 'changed'
  | 'log'
  | 'cancel'
  | 'ready'
  | 'room'
  | 'flow'
  | 'due'
  | 'refresh';

/** That invocations ended, for everybody: who cannot tell which of them the coordinator follows. */
export function publishEnded({ publish }: Pick<Relay, 'publish'>, ids: readonly string[]): void {
  publish('settled', ids);
  publish('followed', ids);
}

export type Transport = {
  /** Whether a statement can send messages as it commits. */
  rides_on_statements: boolean;
  publish(messages: string[]): Promise<void>;
  /** Called once for each topic that anybody here listens to; the others wake nobody here. */
  subscribe(topic: string, listener: (message: string) => void, onListening: () => void): void;
  close(): Promise<void>;
};

type Listener = { hear(ids: string[]): void; onListening: (() => void) | undefined };
type RelayOptions = {
  max_message_bytes: number;
  onError: (error: unknown) => void;
  /** What carries messages with contents, where the signals travel another way. */
  statements?: Transport;
};

/** A message is a topic and ids, separated by blanks. What is published during a send goes together in the next. */
export function createRelay(
  transport: Transport,
  { max_message_bytes, onError, statements = transport }: RelayOptions,
): Relay {
  const receivers = new Map<string, Set<(contents: string) => void>>();
  const listeners = new Map<Topic, Set<Listener>>();
  let pending = new Map<Topic, Set<string>>();
  let sending: Promise<void> | null = null;

  /** What workers offer changes with every settlement, and rides on it. */
  const carrierOf = (topic: Topic) => (topic === 'room' ? statements : transport);
  const send = async () => {
    while (pending.size > 0) {
      const batch = pending;
      pending = new Map();
      const room = batch.get('room');
      if (room && statements !== transport) {
        batch.delete('room');
        await statements.publish(toMessages(new Map([['room', room]]), max_message_bytes)).catch(onError);
      }
      await transport.publish(toMessages(batch, max_message_bytes)).catch(onError);
    }
  };
  const listenersOf = (topic: Topic) => {
    const known = listeners.get(topic);
    if (known) return known;
    const fresh = new Set<Listener>();
    listeners.set(topic, fresh);
    const hear = (message: string) => {
      const [, ...ids] = message.split(' ');
      for (const listener of fresh) listener.hear(ids);
    };
    carrierOf(topic).subscribe(topic, hear, () => {
      for (const { onListening } of fresh) onListening?.();
    });
    return fresh;
  };

  return {
    publish: (topic, ids) => {
      if (ids.length === 0) return;
      const waiting = pending.get(topic) ?? new Set();
      for (const id of ids) waiting.add(id);
      pending.set(topic, waiting);
      sending ??= new Promise<void>((resolve) => setImmediate(resolve)).then(send).finally(() => {
        sending = null;
      });
    },
    riding: (topic, ids) =>
      carrierOf(topic).rides_on_statements ? toMessages(new Map([[topic, new Set(ids)]]), max_message_bytes) : null,
    subscribe: (topic, hear, onListening) => {
      const listener = { hear, onListening };
      listenersOf(topic).add(listener);
      return () => listenersOf(topic).delete(listener);
    },
    receive: (address, receiver) => {
      const known = receivers.get(address);
      const all = known ?? new Set();
      all.add(receiver);
      if (!known) {
        receivers.set(address, all);
        const hear = (message: string) => {
          // A process of another version may say it otherwise; whoever receives looks in Postgres all the same.
          try {
            for (const one of all) one(message.slice(address.length + 1));
          } catch (error) {
            onError(error);
          }
        };
        statements.subscribe(address, hear, () => {});
      }
      return () => void all.delete(receiver);
    },
    receiverHere: (address) => {
      const [first] = receivers.get(address) ?? [];
      return first;
    },
    close: async () => {
      await sending;
      await transport.close();
      if (statements !== transport) await statements.close();
    },
  };
}

function toMessages(batch: Map<Topic, Set<string>>, max_bytes: number): string[] {
  const messages: string[] = [];
  for (const [topic, ids] of batch) {
    let message: string = topic;
    for (const id of ids) {
      if (message.length + id.length + 1 > max_bytes && message !== topic) {
        messages.push(message);
        message = topic;
      }
      message += ` ${id}`;
    }
    if (message !== topic) messages.push(message);
  }
  return messages;
}
