import { setTimeout as delay } from 'node:timers/promises';
import { isRunOver, isTerminal, type Run, type RunEvent, type Step } from '@capstan/contracts';
import { readRunning, readStepChanges } from '@capstan/store/plan';
import { getRun } from '@capstan/store/run';
import type { GatewayContext } from '../gateway-context.js';
import type { Asked } from '../http/route.js';
import { lastEventId, sendEvents } from '../http/send-events.js';
import { readRun } from './control-run.js';

const PAGE = 500;
/** The polling interval for changes without a signal: steps that started to run. */
const LOOK_MS = 1000;
const IDLE_MS = 5000;
/** Changes in quick succession are sent together. */
const GATHER_MS = 50;
const MAX_STREAM_MS = 3_600_000;
const MAX_WATCHED = 1000;

type Followed = Omit<Step, 'result'>;
/** What the stream has sent so far. */
type Told = { seq: number; run: string; watched: Map<string, Followed> };

/** Streams the run and its steps as they change. An event's id is the number of the last step change that was sent. */
export async function streamRun(gateway: GatewayContext, asked: Asked<unknown, unknown>) {
  const { principal, params, request, reply } = asked;
  const run = await readRun(gateway, principal, params.id ?? '');
  const [, after = 0] = /^(\d{1,9})$/.exec(lastEventId(request) ?? '') ?? [];
  return sendEvents(gateway, reply, (signal) => follow(gateway, principal.tenant, run, Number(after), signal));
}

async function* follow(gateway: GatewayContext, tenant: string, { run_id }: Run, after: number, signal: AbortSignal) {
  const deadline = performance.now() + MAX_STREAM_MS;
  const told: Told = { seq: after, run: '', watched: new Map() };
  yield ': capstan\n\n';
  while (!signal.aborted && performance.now() < deadline) {
    // Listening starts before looking, so a change in between is not missed.
    const looked = new AbortController();
    const pause = told.watched.size > 0 ? LOOK_MS : IDLE_MS;
    const change = gateway.changes.next(run_id, pause, AbortSignal.any([signal, looked.signal]));
    const { events, more, over } = await look(gateway, tenant, run_id, told);
    if (events.length > 0) yield events.map(toText).join('');
    if (more || over) looked.abort();
    if (over && !more) return;
    await change;
    if (!more && !signal.aborted) await delay(GATHER_MS);
    if (events.length === 0) yield ': waiting\n\n';
  }
}

type Look = { events: RunEvent[]; more: boolean; over: boolean };

async function look({ store }: GatewayContext, tenant: string, run_id: string, told: Told): Promise<Look> {
  // The run is read first: steps end before their run, so if the run has ended, all steps are read as ended.
  const run = await getRun(store, tenant, run_id);
  if (!run) return { events: [], more: false, over: true };
  const events: RunEvent[] = [];
  const tell = (step: Followed) => events.push({ id: String(told.seq), event: 'step', data: step });
  const changes = run.kind === 'plan' ? await readStepChanges(store.db, run_id, told.seq, PAGE) : [];
  for (const { seq, step } of changes) {
    told.seq = seq;
    tell(step);
    watch(told, step);
  }
  for (const { invocation_id, started_at } of await readRunning(store.db, [...told.watched.keys()])) {
    const step = told.watched.get(invocation_id);
    told.watched.delete(invocation_id);
    if (step) tell({ ...step, status: 'running', reason: null, started_at });
  }
  const more = changes.length === PAGE;
  const state = JSON.stringify(run);
  if (!more && state !== told.run) {
    told.run = state;
    events.push({ id: String(told.seq), event: 'run', data: run });
  }
  return { events, more, over: isRunOver(run.status) };
}

/** Watches steps that wait for a worker, because their start is not recorded as a step change. */
function watch({ watched }: Told, step: Followed): void {
  if (step.invocation_id === null) return;
  const waits =
    step.status !== 'running' && step.status !== 'skipped' && step.status !== 'pending' && !isTerminal(step.status);
  if (!waits) watched.delete(step.invocation_id);
  else if (watched.size < MAX_WATCHED) watched.set(step.invocation_id, step);
}

const toText = ({ id, event, data }: RunEvent) => `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
