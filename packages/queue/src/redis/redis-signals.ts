import type { Transport } from '../relay/relay.js';
import { connectRedis, FAIL_FAST, PATIENT } from './connect-redis.js';

const CHANNEL = 'capstan:signals';

/** Redis pub/sub; a subscriber needs a connection of its own. */
export function redisSignals(url: string, onError: (error: unknown) => void): Transport {
  const publisher = connectRedis(url, FAIL_FAST, onError);
  const subscriber = connectRedis(url, PATIENT, onError);
  return {
    rides_on_statements: false,
    publish: async (messages) => {
      await Promise.all(messages.map((message) => publisher.publish(CHANNEL, message)));
    },
    subscribe: (listener) => {
      subscriber.on('message', (_channel, message) => listener(message));
      // ioredis subscribes again by itself after a reconnection.
      subscriber.subscribe(CHANNEL).catch(onError);
    },
    close: async () => {
      publisher.disconnect();
      subscriber.disconnect();
    },
  };
}
