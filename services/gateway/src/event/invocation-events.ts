import {
  type Attempt,
  type Invocation,
  type InvocationEvent,
  type InvocationStatus,
  isTerminal,
  type LogStream,
} from '@capstan/contracts';

/**
 * The events of an invocation are derived from its rows, so nothing extra is written, and any gateway can resume a stream at any
 * time. An event's id is its position: the attempt, then the position within the attempt.
 */
export type Place = { attempt: number; part: number };

export const START: Place = { attempt: -1, part: 0 };
const RUNNING = 0;
/** Log lines have the positions from 1 on. Events after an attempt follow all of them. */
const AFTER_LOGS = 2_000_000_000;
/** Before the event `queued`, which is at AFTER_LOGS. */
const HELD = AFTER_LOGS - 1;
/** Part of the last attempt, so that a redrive, which is a later attempt, follows an end that was sent already. */
const ENDED = AFTER_LOGS + 1;
const RESULT = ENDED + 1;

const toId = ({ attempt, part }: Place): string => `${attempt}-${part}`;

export function fromId(id: string | undefined): Place | null {
  const [, attempt, part] = /^(\d{1,9})-(\d{1,10})$/.exec(id ?? '') ?? [];
  return attempt && part ? { attempt: Number(attempt), part: Math.min(Number(part), RESULT) } : null;
}

export const isAfter = (a: Place, b: Place): boolean =>
  a.attempt > b.attempt || (a.attempt === b.attempt && a.part > b.part);

export type PlacedEvent = { place: Place; event: InvocationEvent };
export type LogRow = { attempt: number; seq: number; stream: LogStream; text: string };

export function eventsOf(invocation: Invocation, attempts: Attempt[], logs: LogRow[]): PlacedEvent[] {
  const events: PlacedEvent[] = [];
  const status = (place: Place, name: InvocationStatus, attempt: number, at: string) =>
    events.push({ place, event: { id: toId(place), event: 'status', data: { status: name, attempt, at } } });

  const first = firstStatus(invocation);
  if (!isTerminal(first)) status({ attempt: 0, part: 0 }, first, 0, invocation.created_at);
  const begun = attempts[0];
  if ((first === 'deferred' || first === 'held') && (begun || invocation.status === 'queued'))
    status({ attempt: 0, part: 1 }, 'queued', 0, begun?.started_at ?? invocation.run_at ?? invocation.created_at);

  for (const { attempt, started_at, ended_at } of attempts) {
    status({ attempt, part: RUNNING }, 'running', attempt, started_at);
    for (const log of logs) if (log.attempt === attempt) events.push(logEvent(log));
    const is_held = invocation.status === 'held' && attempt === invocation.attempt;
    if (ended_at && is_held) status({ attempt, part: HELD }, 'held', attempt, ended_at);
    const again = attempt < invocation.attempt || invocation.status === 'queued';
    if (ended_at && again) status({ attempt, part: AFTER_LOGS }, 'queued', attempt, ended_at);
  }
  if (isTerminal(invocation.status)) {
    const at = invocation.finished_at ?? invocation.created_at;
    status({ attempt: invocation.attempt, part: ENDED }, invocation.status, invocation.attempt, at);
    const place = { attempt: invocation.attempt, part: RESULT };
    if (invocation.result) events.push({ place, event: { id: toId(place), event: 'result', data: invocation.result } });
  }
  return events;
}

function logEvent({ attempt, seq, stream, text }: LogRow): PlacedEvent {
  const place = { attempt, part: seq };
  return { place, event: { id: toId(place), event: 'log', data: { stream, text, seq } } };
}

function firstStatus({ decision, run_at }: Invocation): InvocationStatus {
  if (decision.effect === 'deny') return 'denied';
  if (decision.effect === 'hold') return 'held';
  return run_at ? 'deferred' : 'queued';
}
