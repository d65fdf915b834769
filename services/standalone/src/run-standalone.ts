import { untilSignal } from '@capstan/backbone';
import { standaloneEnv } from './env.js';
import { commandFor } from './own-address.js';
import { startStandalone } from './start-standalone.js';

/** `capstan up`, `capstan dev` and `npm start`. `onUp` is called once it is up. */
export async function runStandalone(onUp?: (up: { url: string; key: string }) => Promise<void>): Promise<void> {
  const env = standaloneEnv(process.env);
  const asked = untilSignal();
  const standalone = await startStandalone(env);
  process.stdout.write(`
  Capstan is up at ${standalone.url}

  key    ${standalone.key}
  data   ${standalone.data_dir}
  queue  ${env.REDIS_URL ? 'BullMQ on Redis' : 'Postgres'}

  Try    ${commandFor(standalone.url)} invoke cap:test_math:add '{"a":2,"b":3}'
  Stop   Ctrl-C

`);
  try {
    await onUp?.(standalone);
    await Promise.race([asked, standalone.failed]);
    process.stdout.write('  Stopping. Running calls may finish first.\n');
  } finally {
    await standalone.stop();
  }
}
