import { countOf } from './format/count.js';
import type { Session } from './session.js';
import { UsageError } from './usage-error.js';

const ID = /^(inv|run|hld)_([\w-]+)$/;
const WHOLE = 21;
const MIN = 4;
/** Ids begin with seven characters of the time, which a bulk shares; five of chance beyond them are one in a billion. */
const CERTAIN = 12;
const PAGE = 250;
const MAX_LOOKED_AT = 1000;
const MAX_NAMED = 5;

/**
 * The id that a text is the beginning of, or the text itself where it is the beginning of none: then the gateway says so.
 * Only the newest are looked at, so a short beginning counts only where those are all there are.
 */
export const resolveId = async (session: Session, text: string): Promise<string> => {
  const [, kind, beginning = ''] = ID.exec(text) ?? [];
  if (kind === undefined || beginning.length >= WHOLE || beginning.length < MIN) return text;
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
  // The id of a step goes on after that of its run, and the other steps may not be among the newest.
  const ofStep = only.length > kind.length + 1 + WHOLE;
  if (looked <= MAX_LOOKED_AT || (beginning.length >= CERTAIN && !ofStep)) return only;
  throw new UsageError(
    `${text} is too short to tell which one is meant`,
    `Give ${CERTAIN} characters after the _, of a step the whole id.`,
  );
};

/** As `resolveId`, and the name of a plan that ran once. */
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
  // Also for holds: the list of those has only what is pending, and the beginning may be of one that has been decided.
  else
    for await (const { invocation_id, hold_id } of client.list({ limit: PAGE }))
      yield kind === 'inv' ? invocation_id : hold_id;
};

const severalOf = (what: string, noun: string, ids: string[]): UsageError => {
  const many = ids.length > MAX_NAMED;
  const named = `${ids.slice(0, MAX_NAMED).join(', ')}${many ? ' and more' : ''}`;
  return new UsageError(
    `${what} ${many ? `several ${noun}s` : countOf(ids.length, noun)}: ${named}`,
    'Give more of the id that is meant.',
  );
};
