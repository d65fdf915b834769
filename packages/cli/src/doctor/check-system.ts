import type { QueueInfo } from '@capstan/contracts';
import type { Session } from '../session.js';
import type { Check } from './check.js';

/** Asks the gateway whether the key is valid and whether submitted calls can run. */
export const checkSystem = async (session: Session): Promise<Check[]> => {
  const { CapstanError } = await import('@capstan/client');
  const client = await session.client();
  try {
    const me = await client.whoami();
    const about: Check = { name: 'login', state: 'ok', found: `${me.actor} of ${me.tenant}: ${me.roles.join(', ')}` };
    const queues: QueueInfo[] = [];
    for await (const queue of client.queues.list()) queues.push(queue);
    return [about, checkQueues(queues)];
  } catch (error) {
    if (!(error instanceof CapstanError)) throw error;
    return [{ name: 'login', state: 'absent', found: error.detail, advice: error.suggestion }];
  }
};

const checkQueues = (queues: readonly QueueInfo[]): Check => {
  const name = 'queues';
  const paused = queues.filter((queue) => queue.paused).map(({ runner }) => runner);
  const unserved = queues.filter(({ workers, queued }) => workers === 0 && queued > 0).map(({ runner }) => runner);
  const served = queues.filter(({ workers }) => workers > 0).map(({ runner }) => runner);
  const [first_paused] = paused;
  if (first_paused !== undefined)
    return {
      name,
      state: 'absent',
      found: `paused: ${paused.join(', ')}`,
      advice: `Calls in paused queues do not start. Resume with: capstan queues resume ${first_paused}`,
    };
  const [first_unserved] = unserved;
  if (first_unserved !== undefined)
    return {
      name,
      state: 'absent',
      found: `work waits, and no worker serves ${unserved.join(', ')}`,
      advice: `Start one: capstan worker --runner ${first_unserved}`,
    };
  return served.length === 0
    ? { name, state: 'absent', found: 'no worker serves any', advice: 'Start one: capstan worker --runner exec' }
    : { name, state: 'ok', found: `workers serve ${served.join(', ')}` };
};
