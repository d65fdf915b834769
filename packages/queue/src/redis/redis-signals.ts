import type { Transport } from '../relay/relay.js';
import { connectRedis, FAIL_FAST, PATIENT } from './connect-redis.js';

const channelOf = (topic = '') => `capstan:signals:${topic}`;

/** Redis pub/sub; a subscriber needs a connection of its own. */
export function redisSignals(url: string, onError: (error: unknown) => void): Transport {
  const publisher = connectRedis(url, FAIL_FAST, onError);
  const subscriber = connectRedis(url, PATIENT, onError);
  return {
    rides_on_statements: false,
    publish: async (messages) => {
      await Promise.all(messages.map((message) => publisher.publish(channelOf(message.split(' ', 1)[0]), message)));
    },
    subscribe: (topic, listener, onListening) => {
      const channel = channelOf(topic);
      const listen = () => void subscriber.subscribe(channel).then(onListening, onError);
      subscriber.on('message', (heard, message) => {
        if (heard === channel) listener(message);
      });
      subscriber.on('ready', listen);
      if (subscriber.status === 'ready') listen();
    },
    close: async () => {
      publisher.disconnect();
      subscriber.disconnect();
    },
  };
}
