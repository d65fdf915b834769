/**
 * Carries signals between processes. A signal says that something changed; its receiver reads Postgres. Signals may be lost, so
 * every receiver also polls slowly.
 */
export interface Relay {
  publish(topic: Topic, ids: readonly string[]): void;
  /**
   * The same signal as messages for a statement to send as it commits: two round trips less than publishing afterwards. Null if
   * signals do not travel through Postgres; then publish.
   */
  riding(topic: Topic, ids: readonly string[]): string[] | null;
  /** `onListening` is called when listening starts and after every interruption, because earlier signals may have been missed. */
  subscribe(topic: Topic, listener: (ids: string[]) => void, onListening?: () => void): () => void;
  /**
   * Messages with contents, to one address: calls for a worker, results for gateways. They travel only through Postgres, sent by the
   * statement that commits their contents (Redis keeps job data and messages in clear text).
   */
  receive(address: string, receiver: (contents: string) => void): () => void;
  /** The receiver in this process, if there is one; it can be called directly. */
  receiverHere(address: string): ((contents: string) => void) | undefined;
  close(): Promise<void>;
}

/**
 * settled: invocations that ended, for waiting callers · followed: those among them that concern the coordinator (steps, calls
 * under a quota, ends for webhooks) · changed: invocations with a new status · log: new log lines · cancel: running invocations to
 * stop · ready: runner types with waiting work · room: free slots that workers offer · flow: whether calls may go straight to Redis ·
 * due: the coordinator's next deadline may be earlier · refresh: caches to reload (keys, policies, queues)
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

/** For publishers that do not know which of the ended invocations concern the coordinator. */
export function publishEnded({ publish }: Pick<Relay, 'publish'>, ids: readonly string[]): void {
  publish('settled', ids);
  publish('followed', ids);
}

export type Transport = {
  /** Whether a statement can send messages as it commits. */
  rides_on_statements: boolean;
  publish(messages: string[]): Promise<void>;
  /** Called once for each topic that this process listens to. */
  subscribe(topic: string, listener: (message: string) => void, onListening: () => void): void;
  close(): Promise<void>;
};

type Listener = { hear(ids: string[]): void; onListening: (() => void) | undefined };
type RelayOptions = {
  max_message_bytes: number;
  onError: (error: unknown) => void;
  /** Carries messages with contents, if signals use another transport. */
  statements?: Transport;
};

/** A message is a topic and ids, separated by spaces. Signals published during a send are combined in the next one. */
export function createRelay(
  transport: Transport,
  { max_message_bytes, onError, statements = transport }: RelayOptions,
): Relay {
  /** Offers change with every settlement, and are sent by its statement. */
  const carrierOf = (topic: Topic) => (topic === 'room' ? statements : transport);
  const toText = (batch: Batch) => toMessages(batch, max_message_bytes);
  const outbox = new Outbox((carrier, batch) => carrier.publish(toText(batch)).catch(onError), carrierOf);
  const listeners = new Listeners(carrierOf);
  const receivers = new Receivers(statements, onError);
  return {
    publish: (topic, ids) => outbox.add(topic, ids),
    riding: (topic, ids) => (carrierOf(topic).rides_on_statements ? toText(new Map([[topic, new Set(ids)]])) : null),
    subscribe: (topic, hear, onListening) => listeners.add(topic, { hear, onListening }),
    receive: (address, receiver) => receivers.add(address, receiver),
    receiverHere: (address) => receivers.first(address),
    close: async () => {
      await outbox.idle();
      await transport.close();
      if (statements !== transport) await statements.close();
    },
  };
}

/** The ids to be published, by topic. */
type Batch = Map<Topic, Set<string>>;
type CarrierOf = (topic: Topic) => Transport;

class Outbox {
  readonly #send: (carrier: Transport, batch: Batch) => Promise<void>;
  readonly #carrierOf: CarrierOf;
  #pending: Batch = new Map();
  #sending: Promise<void> | null = null;

  constructor(send: (carrier: Transport, batch: Batch) => Promise<void>, carrierOf: CarrierOf) {
    this.#send = send;
    this.#carrierOf = carrierOf;
  }

  add(topic: Topic, ids: readonly string[]): void {
    if (ids.length === 0) return;
    const waiting = this.#pending.get(topic) ?? new Set();
    for (const id of ids) waiting.add(id);
    this.#pending.set(topic, waiting);
    this.#sending ??= new Promise<void>((resolve) => setImmediate(resolve))
      .then(() => this.#sendAll())
      .finally(() => {
        this.#sending = null;
      });
  }

  async idle(): Promise<void> {
    await this.#sending;
  }

  async #sendAll(): Promise<void> {
    while (this.#pending.size > 0) {
      const batches = new Map<Transport, Batch>();
      for (const [topic, ids] of this.#pending) {
        const carrier = this.#carrierOf(topic);
        const batch: Batch = batches.get(carrier) ?? new Map();
        batches.set(carrier, batch.set(topic, ids));
      }
      this.#pending = new Map();
      for (const [carrier, batch] of batches) await this.#send(carrier, batch);
    }
  }
}

class Listeners {
  readonly #carrierOf: CarrierOf;
  readonly #topics = new Map<Topic, Set<Listener>>();

  constructor(carrierOf: CarrierOf) {
    this.#carrierOf = carrierOf;
  }

  add(topic: Topic, listener: Listener): () => void {
    const all = this.#topics.get(topic) ?? this.#open(topic);
    all.add(listener);
    return () => all.delete(listener);
  }

  #open(topic: Topic): Set<Listener> {
    const all = new Set<Listener>();
    this.#topics.set(topic, all);
    const hear = (message: string) => {
      const [, ...ids] = message.split(' ');
      for (const listener of all) listener.hear(ids);
    };
    this.#carrierOf(topic).subscribe(topic, hear, () => {
      for (const { onListening } of all) onListening?.();
    });
    return all;
  }
}

type Receiver = (contents: string) => void;

class Receivers {
  readonly #transport: Transport;
  readonly #onError: (error: unknown) => void;
  readonly #addresses = new Map<string, Set<Receiver>>();

  constructor(transport: Transport, onError: (error: unknown) => void) {
    this.#transport = transport;
    this.#onError = onError;
  }

  add(address: string, receiver: Receiver): () => void {
    const known = this.#addresses.get(address);
    const all = known ?? new Set();
    all.add(receiver);
    if (!known) this.#open(address, all);
    return () => void all.delete(receiver);
  }

  first(address: string): Receiver | undefined {
    const [first] = this.#addresses.get(address) ?? [];
    return first;
  }

  #open(address: string, all: Set<Receiver>): void {
    this.#addresses.set(address, all);
    const hear = (message: string) => {
      // A process of another version may send another format; the receiver reads Postgres in any case.
      try {
        for (const one of all) one(message.slice(address.length + 1));
      } catch (error) {
        this.#onError(error);
      }
    };
    this.#transport.subscribe(address, hear, () => {});
  }
}

function toMessages(batch: Batch, max_bytes: number): string[] {
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
