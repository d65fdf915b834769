import type { Session } from '../session.js';
import type { Check } from './check.js';

const PATIENCE_MS = 3_000;

/** A gateway that does not run is nothing to mend; something else on its port is. */
export const checkGateway = async (session: Session): Promise<Check> => {
  const { url } = session.connection();
  const name = 'gateway';
  const { UnreachableError } = await import('@capstan/client');
  try {
    const client = await session.client();
    const ready = await client.ready({ signal: AbortSignal.timeout(PATIENCE_MS) });
    return ready
      ? { name, state: 'ok', found: `${url} is ready` }
      : { name, state: 'absent', found: `${url} is not ready`, advice: 'It waits for Postgres or Redis; see its log.' };
  } catch (error) {
    if (error instanceof UnreachableError && !error.sent) {
      return {
        name,
        state: 'absent',
        found: `nothing answers at ${url}`,
        advice: 'Start it with `npm start` or `capstan up`.',
      };
    }
    const found = `${url} answers, but not like a gateway`;
    return {
      name,
      state: 'absent',
      found,
      advice: 'Set CAPSTAN_PORT for `capstan up`, or CAPSTAN_URL to where the gateway is.',
    };
  }
};

export const checkKey = (session: Session): Check => {
  const { key } = session.connection();
  const advice = '`capstan up` writes .capstan/admin.key; elsewhere set CAPSTAN_API_KEY.';
  return key === null
    ? { name: 'key', state: 'absent', found: 'none', advice }
    : { name: 'key', state: 'ok', found: `from ${key.origin}` };
};
