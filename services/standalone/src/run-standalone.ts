import { untilSignal } from '@capstan/backbone';
import { standaloneEnv } from './env.js';
import { commandFor } from './own-address.js';
import { startStandalone } from './start-standalone.js';

type Up = { url: string; key: string };
type Stop = () => Promise<void>;

/** `capstan up`, `capstan dev` and `npm start`. `onUp` is called once it is up; what it returns is called before the services stop. */
export async function runStandalone(onUp: (up: Up) => Promise<Stop> = () => Promise.resolve(nothing)): Promise<void> {
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
    const stop = await onUp(standalone);
    try {
      await Promise.race([asked, standalone.failed]);
      process.stdout.write('  Stopping. Running calls may finish first.\n');
    } finally {
      await stop();
    }
  } finally {
    await standalone.stop();
  }
}

const nothing = (): Promise<void> => Promise.resolve();
