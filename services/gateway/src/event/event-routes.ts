import { setTimeout as delay } from 'node:timers/promises';
import { type Principal, type TenantEvent, TenantEventsQuery, type TenantEventType } from '@capstan/contracts';
import { readChanges } from '@capstan/store/event';
import { listWorkers } from '@capstan/store/worker';
import type { GatewayContext } from '../gateway-context.js';
import { type Route, route } from '../http/route.js';
import { lastEventId, sendEvents } from '../http/send-events.js';
import { eventsOf, Follower, fromId, mayHear, toId, workerEvents } from './tenant-events.js';

/** The polling interval for changes without a signal: calls that ended. */
const LOOK_MS = 1000;
/** Changes in quick succession are sent together. */
const GATHER_MS = 100;
const WORKERS_MS = 5000;
/** Keep-alive interval of idle streams, so that proxies do not close them. */
const SIGN_MS = 15_000;
const MAX_STREAM_MS = 3_600_000;
/** Changes of one kind in one read. If there are more, the client is told to read the list again. */
const MAX_AT_ONCE = 500;
/** How many sequence numbers a new stream starts back: rows with these numbers may still be committed late. */
const MARGIN = 1000n;

export const eventRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/events',
    summary: 'Follow changes in the tenant as server-sent events; Last-Event-ID resumes',
    roles: ['submit', 'operate', 'audit'],
    query: TenantEventsQuery,
    answers: { 200: { description: 'Events named after the type of what changed', media_type: 'text/event-stream' } },
    handle: async (gateway, { principal, query: { types }, request, reply }) => {
      const follower = await follow(gateway, principal, lastEventId(request));
      const wanted = (type: TenantEventType) => mayHear(principal, type) && (types?.includes(type) ?? true);
      return sendEvents(gateway, reply, (signal) => stream(gateway, principal, follower, wanted, signal));
    },
  }),
];

/** Starts where the client left off, or now. */
async function follow({ store }: GatewayContext, { tenant }: Principal, last: string | undefined): Promise<Follower> {
  const known = fromId(last);
  if (known) return new Follower(known);
  const now = await readChanges(store, tenant, { xid: '0', invocation: '0', run: '0', audit: '0' }, 0);
  const before = (seq: string) => String(BigInt(seq) > MARGIN ? BigInt(seq) - MARGIN : 0n);
  const { invocation, run, audit } = now.latest;
  const mark = { xid: now.oldest, invocation: before(invocation), run: before(run), audit: before(audit) };
  const follower = new Follower(mark);
  // Marks existing changes as sent: a new client knows them. Those that are committed late are still sent.
  follower.take(await readChanges(store, tenant, mark, Number(MARGIN) + MAX_AT_ONCE));
  return follower;
}

async function* stream(
  gateway: GatewayContext,
  principal: Principal,
  follower: Follower,
  wanted: (type: TenantEventType) => boolean,
  signal: AbortSignal,
) {
  const { store, activity } = gateway;
  const deadline = performance.now() + MAX_STREAM_MS;
  let workers: ReadonlyMap<string, string> | null = null;
  let workers_at = Number.NEGATIVE_INFINITY;
  let said_at = performance.now();
  yield `: capstan\nid: ${toId(follower.mark)}\n\n`;
  while (!signal.aborted && performance.now() < deadline) {
    // Listening starts before looking, so a change in between is not missed.
    const change = activity.next(LOOK_MS, signal);
    const found = await readChanges(store, principal.tenant, follower.mark, MAX_AT_ONCE);
    const events = follower.take(found).flatMap(eventsOf);
    const at = new Date().toISOString();
    if (found.many.ended || found.many.created) events.push(many('invocation', at), many('run', at), many('hold', at));
    if (found.many.act) events.push(...(['hold', 'queue', 'policy', 'tool'] as const).map((type) => many(type, at)));
    if (wanted('worker') && performance.now() - workers_at > WORKERS_MS) {
      const now = await listWorkers(store.db);
      if (workers) events.push(...workerEvents(workers, now, at));
      workers = new Map(now.map(({ worker_id, status }) => [worker_id, status]));
      workers_at = performance.now();
    }
    const told = events.filter(({ type }) => wanted(type));
    if (told.length > 0) yield told.map((event) => toText(toId(follower.mark), event)).join('');
    else if (performance.now() - said_at > SIGN_MS) yield ': waiting\n\n';
    if (told.length > 0 || performance.now() - said_at > SIGN_MS) said_at = performance.now();
    await change;
    await delay(GATHER_MS, undefined, { signal }).catch(() => undefined);
  }
}

const many = (type: TenantEventType, at: string): TenantEvent => ({ type, id: null, status: null, at });

const toText = (id: string, event: TenantEvent) =>
  `id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
