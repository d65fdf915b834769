import { type InvocationStatus, isTerminal } from '@capstan/contracts';
import type { Call, End, History, Operated, Operation } from './history.js';

export type ViolationKind = 'lost' | 'doubled' | 'unexpected' | 'late' | 'stuck' | 'unverified';

export interface Violation {
  readonly kind: ViolationKind;
  readonly key: string;
  readonly text: string;
}

/** All clocks are those of one machine, but an answer is read a moment after it was written. */
const SLACK_MS = 250;

/** Compares the history of each call with what may happen to a single call on its own. */
export function judgeHistory({ calls, operations, ends }: History): Violation[] {
  const operations_of = byKey(operations);
  const ends_of = byKey(ends);
  const known = new Set(calls.map(({ key }) => key));
  const strange = [...new Set([...operations_of.keys(), ...ends_of.keys()])].filter((key) => !known.has(key));
  return [
    ...strange.map((key): Violation => ({ kind: 'unexpected', key, text: 'nobody submitted this call' })),
    ...calls.flatMap((call) => judgeCall(call, operations_of.get(call.key) ?? [], ends_of.get(call.key) ?? [])),
  ];
}

function byKey<Item extends { key: string }>(items: readonly Item[]): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(item.key, [...(groups.get(item.key) ?? []), item]);
  return groups;
}

function judgeCall(call: Call, operations: readonly Operated[], ends: readonly End[]): Violation[] {
  const { key } = call;
  const seen = new Seen(operations);
  const violations: Violation[] = [];
  const found = (kind: ViolationKind, text: string) => violations.push({ kind, key, text });

  const ids = new Set(ends.map(({ invocation_id }) => invocation_id));
  for (const { invocation_id } of seen.all('submit', 'ok'))
    if (invocation_id !== undefined && !ids.has(invocation_id))
      found('lost', `${invocation_id} was accepted and is gone`);
  if (ids.size > 1) found('doubled', `one idempotency key became ${[...ids].join(' and ')}`);
  const [end] = ends;
  if (!end) {
    if (seen.starts.length > 0) found('unexpected', 'it ran and is not on record');
    return violations;
  }
  judgeRuns(call, end, seen, found);
  judgeEnd(call, end, seen, found);
  if (!end.verified) found('unverified', 'its record does not verify');
  return violations;
}

type Found = (kind: ViolationKind, text: string) => void;

/** Checks how often and when the tool ran. */
function judgeRuns({ tool, held }: Call, end: End, seen: Seen, found: Found): void {
  const { starts } = seen;
  const redrives = seen.possible('redrive');
  // Once, plus once for each redrive by a person, plus once for each failure that the tool itself reported.
  const may_run = 1 + redrives.length + seen.all('answer', 'failed').length;
  if (tool === 'post' && starts.length > may_run)
    found('doubled', `it may not be repeated and ran ${starts.length} times; ${may_run} allowed`);
  if (tool === 'get' && starts.length > end.attempt)
    found('doubled', `it ran ${starts.length} times, and ${end.attempt} attempts are on record`);

  const [vote] = seen.possible('vote');
  const [first] = starts;
  if (held && first && (vote === undefined || first.at < vote.began))
    found('unexpected', 'it ran before anybody agreed');

  if (tool !== 'post' || redrives.length > 0) return;
  const last = starts.at(-1);
  if (!last) return;
  if (end.finished_at !== null && last.at > end.finished_at + SLACK_MS)
    found('late', `it began ${Math.round(last.at - end.finished_at)} ms after it had ended ${end.status}`);
  const canceled = seen.all('cancel', 'ok').find(({ status }) => status === 'canceled');
  if (canceled && last.at > canceled.at + SLACK_MS) found('late', 'it began after its cancellation was confirmed');
}

/** Checks that these operations can lead to this end. */
function judgeEnd({ tool }: Call, end: End, seen: Seen, found: Found): void {
  const { status } = end;
  if (!isTerminal(status)) {
    found('stuck', `it is still ${status}`);
    return;
  }
  const reason = WHY_NOT[status]?.(tool, seen);
  if (reason) found('unexpected', `it ended ${status}, but ${reason}`);
  if (!end.result_fits) found('unexpected', 'its result is that of another call');
}

type WhyNot = (tool: Call['tool'], seen: Seen) => string | false;

/** Why an end in this status is wrong, if it is. Nothing is ever denied, and nothing expires. */
const WHY_NOT: Record<InvocationStatus, WhyNot | undefined> = {
  succeeded: (tool, seen) => tool !== 'sum' && seen.all('answer', 'ok').length === 0 && 'its tool never answered',
  failed: (_, seen) => seen.all('answer', 'failed').length === 0 && 'its tool never said so',
  ambiguous: (tool) => tool !== 'post' && 'it may be repeated',
  canceled: (_, seen) => seen.possible('cancel').length === 0 && 'nobody canceled it',
  rejected: (_, seen) => seen.possible('vote').length === 0 && 'nobody voted',
  timed_out: () => 'its tool is quick',
  denied: () => 'policy allows it',
  expired: () => 'it has no expiry',
  held: undefined,
  deferred: undefined,
  queued: undefined,
  running: undefined,
};

/** The operations on one call, in chronological order. */
class Seen {
  readonly #operations: readonly Operated[];
  readonly starts: readonly Operated[];

  constructor(operations: readonly Operated[]) {
    this.#operations = operations.toSorted((one, other) => one.at - other.at);
    this.starts = this.#operations.filter(({ op }) => op === 'start');
  }

  all(op: Operation, outcome: Operated['outcome']): Operated[] {
    return this.#operations.filter((operated) => operated.op === op && operated.outcome === outcome);
  }

  /** Operations that took effect or may have. */
  possible(op: Operation): Operated[] {
    return this.#operations.filter((operated) => operated.op === op && operated.outcome !== 'failed');
  }
}
