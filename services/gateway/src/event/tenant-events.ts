import {
  hasRole,
  holdIdOf,
  invocationIdOf,
  type Principal,
  type TenantEvent,
  type TenantEventType,
  type WorkerInfo,
} from '@capstan/contracts';
import type { Change, Changes, Mark } from '@capstan/store/event';

/** True if the caller may get events of this type: policies and workers need a role that can read them. */
export function mayHear(principal: Principal, type: TenantEventType): boolean {
  if (type === 'policy') return hasRole(principal, 'audit');
  return type !== 'worker' || hasRole(principal, 'operate', 'audit');
}

const AUDITED: Record<string, TenantEventType> = {
  queue: 'queue',
  policy: 'policy',
  extension: 'tool',
  tool: 'tool',
  atip: 'tool',
  mcp_server: 'tool',
};

const HOLD_STATUS: Record<string, string> = {
  'hold.release': 'released',
  'hold.reject': 'rejected',
  'hold.withdraw': 'withdrawn',
};

/** One change can cause several events: a held call is also a hold. */
export function eventsOf(change: Change): TenantEvent[] {
  const { id, at } = change;
  switch (change.kind) {
    case 'created': {
      const call: TenantEvent = { type: 'invocation', id, status: change.status, at };
      return change.status === 'held' ? [call, { type: 'hold', id: holdIdOf(id), status: 'pending', at }] : [call];
    }
    case 'ended': {
      const { status, hold_id, hold_status } = change;
      const call: TenantEvent = { type: 'invocation', id, status, at };
      // The release had an event of its own.
      if (hold_id === null || hold_status === 'released') return [call];
      return [call, { type: 'hold', id: hold_id, status: hold_status, at }];
    }
    case 'run_created':
    case 'run_ended':
      return [{ type: 'run', id, status: change.status, at }];
    case 'act':
      return ofAct(change);
  }
}

function ofAct({ id, event, at }: Extract<Change, { kind: 'act' }>): TenantEvent[] {
  const [family = '', what = ''] = event.split('.');
  if (family === 'hold') {
    const hold: TenantEvent = { type: 'hold', id, status: HOLD_STATUS[event] ?? 'pending', at };
    const moved = event === 'hold.release' || event === 'hold.return' || event === 'hold.edit';
    return moved ? [hold, { type: 'invocation', id: invocationIdOf(id), status: null, at }] : [hold];
  }
  if (family === 'run') return [{ type: 'run', id, status: null, at }];
  if (family === 'invocation') return [{ type: 'invocation', id, status: null, at }];
  const type = AUDITED[family];
  if (type === undefined) return [];
  const status = family === 'queue' ? (what === 'pause' ? 'paused' : 'active') : what;
  return [{ type, id, status, at }];
}

const KEYS = { created: 'invocation', run_created: 'run', act: 'audit' } as const;

/**
 * The position of one stream. A row gets its sequence number before it is committed, so a lower number may appear after a higher
 * one. The mark therefore moves only once every transaction that was open at that read has ended, and changes beyond it are
 * remembered as sent.
 */
export class Follower {
  readonly #told = new Map<string, Change>();
  #looks: { next: string; latest: Omit<Mark, 'xid'> }[] = [];

  constructor(public mark: Mark) {}

  /** Returns the changes that were not sent before. */
  take({ changes, oldest, next, latest, many }: Changes): Change[] {
    const fresh = changes.filter((change) => {
      const key = keyOf(change);
      if (this.#told.has(key)) return false;
      this.#told.set(key, change);
      return true;
    });
    this.#looks.push({ next, latest });
    const over = this.#looks.filter((look) => BigInt(look.next) <= BigInt(oldest)).at(-1);
    const overflow = many.ended || many.created || many.act;
    // Too many changes to send one by one. The client is told to read everything, so none of them has to be sent later.
    if (overflow) this.#move({ xid: oldest, ...latest });
    else this.#move({ ...(over?.latest ?? this.mark), xid: oldest });
    return fresh;
  }

  #move(mark: Mark): void {
    this.mark = mark;
    this.#looks = this.#looks.filter((look) => BigInt(look.next) > BigInt(mark.xid));
    for (const [key, change] of this.#told) {
      if (change.kind === 'ended' || change.kind === 'run_ended') continue;
      if (BigInt(change.place ?? 0) <= BigInt(mark[KEYS[change.kind]])) this.#told.delete(key);
    }
    // Ends are found by transaction id. Those that were sent a while ago are before the mark.
    const ends = [...this.#told].filter(([, { kind }]) => kind === 'ended' || kind === 'run_ended');
    for (const [key] of ends.slice(0, Math.max(0, ends.length - MAX_REMEMBERED))) this.#told.delete(key);
  }
}

/** Enough for the ends of several reads. */
const MAX_REMEMBERED = 5000;

const keyOf = (change: Change): string =>
  change.kind === 'act' ? `act ${change.place}` : `${change.kind} ${change.id} ${change.status} ${change.at}`;

export const toId = ({ xid, invocation, run, audit }: Mark): string => [xid, invocation, run, audit].join('.');

export function fromId(id: string | undefined): Mark | null {
  const [, xid, invocation, run, audit] = /^(\d{1,19})\.(\d{1,18})\.(\d{1,18})\.(\d{1,18})$/.exec(id ?? '') ?? [];
  return xid && invocation && run && audit ? { xid, invocation, run, audit } : null;
}

/** Workers come and go without a signal, so changes are found by comparing with the last read. */
export function workerEvents(
  before: ReadonlyMap<string, string>,
  now: Pick<WorkerInfo, 'worker_id' | 'status'>[],
  at: string,
): TenantEvent[] {
  return now.flatMap(({ worker_id, status }): TenantEvent[] =>
    before.get(worker_id) === status ? [] : [{ type: 'worker', id: worker_id, status, at }],
  );
}
