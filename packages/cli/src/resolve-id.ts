import { countOf } from './format/count.js';
import type { Session } from './session.js';
import { UsageError } from './usage-error.js';

const ID = /^(inv|run|hld)_([\w-]+)$/;
const WHOLE = 21;
const MIN = 4;
/** Ids begin with seven characters of time, which a bulk shares. Five random ones beyond make a collision one in a billion. */
const CERTAIN = 12;
const PAGE = 250;

/** A prefix that `resolveId` accepts, unless it is an id of a step. */
export const shortId = (id: string): string => id.slice(0, id.indexOf('_') + 1 + CERTAIN);

const MAX_LOOKED_AT = 1000;
const MAX_NAMED = 5;

/**
 * Completes an id prefix. A prefix of no known id is returned unchanged, for the gateway to reject. Only the newest ids are
 * searched, so a short prefix is accepted only if those are all ids.
 */
export const resolveId = async (session: Session, text: string): Promise<string> => {
  const [, kind, prefix = ''] = ID.exec(text) ?? [];
  if (kind === undefined || prefix.length >= WHOLE || prefix.length < MIN) return text;
  if (kind === 'hld' && prefix.length >= CERTAIN) {
    const pending = await pendingHold(session, text);
    if (pending !== null) return pending;
  }
  let looked = 0;
  const found = new Set<string>();
  for await (const id of idsOf(session, kind)) {
    if (id === text) return text;
    if (id?.startsWith(text)) found.add(id);
    looked += 1;
    if (looked > MAX_LOOKED_AT) break;
  }
  const [only] = found;
  if (only === undefined) return text;
  if (found.size > 1) throw severalOf(`${text}… begins`, 'id', [...found]);
  // The id of a step extends that of its run, and the other steps may not be among the newest.
  const ofStep = only.length > kind.length + 1 + WHOLE;
  if (looked <= MAX_LOOKED_AT || (prefix.length >= CERTAIN && !ofStep)) return only;
  throw new UsageError(
    `${text} is too short to be unique`,
    `Pass ${CERTAIN} characters after the _, or for a step the whole id.`,
  );
};

/** A pending hold may be older than the newest invocations. */
const pendingHold = async (session: Session, text: string): Promise<string | null> => {
  const client = await session.client();
  const found: string[] = [];
  for await (const { hold_id } of client.holds.list({ status: 'pending', limit: PAGE }))
    if (hold_id.startsWith(text)) found.push(hold_id);
  return found.length === 1 && found[0]?.length === text.indexOf('_') + 1 + WHOLE ? found[0] : null;
};

/** Like `resolveId`, but also accepts the name of a plan that ran once. */
export const resolveRun = async (session: Session, text: string): Promise<string> => {
  if (ID.test(text)) return resolveId(session, text);
  const client = await session.client();
  const { items } = await client.runs.list({ name: text, limit: MAX_NAMED + 1 }).page();
  if (items.length > 1)
    throw severalOf(
      `${text} is the name of`,
      'run',
      items.map(({ run_id }) => run_id),
    );
  return items[0]?.run_id ?? text;
};

const idsOf = async function* (session: Session, kind: string): AsyncGenerator<string | null> {
  const client = await session.client();
  if (kind === 'run') for await (const { run_id } of client.runs.list({ limit: PAGE })) yield run_id;
  // Holds are found through their invocations, because the list of holds has only pending ones.
  else
    for await (const { invocation_id, hold_id } of client.list({ limit: PAGE }))
      yield kind === 'inv' ? invocation_id : hold_id;
};

const severalOf = (what: string, noun: string, ids: string[]): UsageError => {
  const many = ids.length > MAX_NAMED;
  const named = `${ids.slice(0, MAX_NAMED).join(', ')}${many ? ' and more' : ''}`;
  return new UsageError(
    `${what} ${many ? `several ${noun}s` : countOf(ids.length, noun)}: ${named}`,
    'Pass a longer prefix of the id.',
  );
};
