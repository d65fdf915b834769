import type { Session } from '../session.js';
import type { Check } from './check.js';

const PATIENCE_MS = 3_000;

/** No gateway on this machine is fine, because `capstan up` may be yet to start. One that was named has to answer. */
export const checkGateway = async (session: Session): Promise<Check> => {
  const { url } = session.connection();
  const name = 'gateway';
  const state = session.names_gateway ? 'failed' : 'absent';
  const { UnreachableError } = await import('@capstan/client');
  try {
    const client = await session.client();
    const ready = await client.ready({ signal: AbortSignal.timeout(PATIENCE_MS) });
    return ready
      ? { name, state: 'ok', found: `${url} is ready` }
      : { name, state, found: `${url} is not ready`, advice: 'It waits for Postgres or Redis; see its log.' };
  } catch (error) {
    if (error instanceof UnreachableError && !error.sent) {
      return {
        name,
        state,
        found: `nothing answers at ${url}`,
        advice: 'Start it with `npm start` or `capstan up`.',
      };
    }
    const found = `${url} answers, but is not a Capstan gateway`;
    return {
      name,
      state,
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
