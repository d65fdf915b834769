import type { Session } from './session.js';
import { UsageError } from './usage-error.js';

type Client = Awaited<ReturnType<Session['client']>>;
type Named = { id: string; name: string | null };

const WHOLE_ID = /^(agt|sch|whk|key)_[\w-]{21}$/;
const MAX_NAMED = 5;

const LISTS = {
  agent: async function* (client: Client): AsyncGenerator<Named> {
    for await (const { agent_id, name } of client.agents.list()) yield { id: agent_id, name };
  },
  schedule: async function* (client: Client): AsyncGenerator<Named> {
    for await (const { schedule_id, name } of client.schedules.list()) yield { id: schedule_id, name };
  },
  webhook: async function* (client: Client): AsyncGenerator<Named> {
    for await (const { webhook_id, url } of client.webhooks.list()) yield { id: webhook_id, name: url };
  },
  key: async function* (client: Client): AsyncGenerator<Named> {
    for await (const { key_id, actor } of client.keys.list()) yield { id: key_id, name: actor };
  },
};

/**
 * Finds an id by id, id prefix or name (the URL of a webhook, the actor of a key). A text that matches nothing is returned
 * unchanged, for the gateway to reject.
 */
export const resolveName = async (session: Session, kind: keyof typeof LISTS, text: string): Promise<string> => {
  if (WHOLE_ID.test(text)) return text;
  const found: string[] = [];
  for await (const { id, name } of LISTS[kind](await session.client())) {
    if (id === text) return text;
    if (name === text || (text.includes('_') && id.startsWith(text))) found.push(id);
  }
  const [only] = found;
  if (only === undefined) return text;
  if (found.length === 1) return only;
  throw new UsageError(
    `${text} matches ${found.length} ${kind}s: ${found.slice(0, MAX_NAMED).join(', ')}${found.length > MAX_NAMED ? ' and more' : ''}`,
    'Pass the id of one of them.',
  );
};
