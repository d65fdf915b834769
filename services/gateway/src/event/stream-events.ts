import { isTerminal } from '@capstan/contracts';
import { getInvocation, listAttempts } from '@capstan/store/invocation';
import { readLogs } from '@capstan/store/log';
import type { GatewayContext } from '../gateway-context.js';
import type { Asked } from '../http/route.js';
import { lastEventId, sendEvents } from '../http/send-events.js';
import { notFound } from '../invocation/act-on.js';
import { eventsOf, fromId, isAfter, type Place, START } from './invocation-events.js';

const LOG_PAGE = 1000;
/** The polling interval, and the keep-alive interval of idle streams. */
const LOOK_MS = 5000;
const MAX_STREAM_MS = 3_600_000;

export async function streamEvents(
  gateway: GatewayContext,
  { principal, params, request, reply }: Asked<unknown, unknown>,
) {
  const id = params.id ?? '';
  if (!(await getInvocation(gateway.store.db, principal.tenant, id))) throw notFound(id);
  const after = fromId(lastEventId(request)) ?? START;
  return sendEvents(gateway, reply, (signal) => follow(gateway, principal.tenant, id, after, signal));
}

/** Sends the existing events, then waits for a change and reads again, until the invocation has ended. */
async function* follow(gateway: GatewayContext, tenant: string, id: string, from: Place, signal: AbortSignal) {
  const deadline = performance.now() + MAX_STREAM_MS;
  let sent = from;
  yield ': capstan\n\n';
  while (!signal.aborted && performance.now() < deadline) {
    // Listening starts before looking, so a change in between is not missed.
    const looked = new AbortController();
    const change = gateway.changes.next(id, LOOK_MS, AbortSignal.any([signal, looked.signal]));
    const { text, last, more, ended } = await look(gateway, tenant, id, sent);
    if (text) yield text;
    sent = last;
    if (more || ended) looked.abort();
    if (ended && !more) return;
    await change;
    if (!text && !more) yield ': waiting\n\n';
  }
}

type Look = { text: string; last: Place; more: boolean; ended: boolean };

async function look({ store: { db } }: GatewayContext, tenant: string, id: string, after: Place): Promise<Look> {
  // The invocation is read first: log lines are written before the end, so an ended invocation has all of them.
  const invocation = await getInvocation(db, tenant, id);
  if (!invocation) return { text: '', last: after, more: false, ended: true };
  const [attempts, logs] = await Promise.all([
    listAttempts(db, id),
    readLogs(db, id, { attempt: after.attempt, seq: after.part }, LOG_PAGE),
  ]);
  const more = logs.length === LOG_PAGE;
  const lastLog = logs.at(-1);
  const fresh = eventsOf(invocation, attempts, logs).filter(({ place }) => isAfter(place, after));
  // While more lines are left to read, events after the last line read must wait.
  const shown =
    more && lastLog
      ? fresh.filter(({ place }) => !isAfter(place, { attempt: lastLog.attempt, part: lastLog.seq }))
      : fresh;
  return {
    text: shown.map(({ event }) => toText(event)).join(''),
    last: shown.at(-1)?.place ?? after,
    more,
    ended: isTerminal(invocation.status),
  };
}

const toText = ({ id, event, data }: { id: string; event: string; data: unknown }) =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
