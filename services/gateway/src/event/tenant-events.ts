import {
  hasRole,
  holdIdOf,
  invocationIdOf,
  type Principal,
  type TenantEvent,
  type TenantEventType,
  type WorkerInfo,
} from '@capstan/contracts';
import type { Change, Changes, Mark } from '@capstan/store';

/** What somebody may be told: policies and workers only where they may read them. */
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

/** A change can be news of several things: a call that is held is also a hold. */
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
      // That it was released was told when it was.
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
 * Where one stream is. A row's number is taken before it is committed, so that a lower one may appear after a higher one: a
 * low mark moves only once every transaction that was open at its look has ended, and what is beyond it is remembered.
 */
export class Follower {
  readonly #told = new Map<string, Change>();
  #looks: { next: string; latest: Omit<Mark, 'xid'> }[] = [];

  constructor(public mark: Mark) {}

  /** Those among what was read that are new. */
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
    // More than can be told one by one: who listens is told to read everything, so that nothing has to be told again.
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
    // Ends are found by their transaction; what was told a while ago is before the mark.
    const ends = [...this.#told].filter(([, { kind }]) => kind === 'ended' || kind === 'run_ended');
    for (const [key] of ends.slice(0, Math.max(0, ends.length - MAX_REMEMBERED))) this.#told.delete(key);
  }
}

/** Several looks' worth of ends. */
const MAX_REMEMBERED = 5000;

const keyOf = (change: Change): string =>
  change.kind === 'act' ? `act ${change.place}` : `${change.kind} ${change.id} ${change.status} ${change.at}`;

export const toId = ({ xid, invocation, run, audit }: Mark): string => [xid, invocation, run, audit].join('.');

export function fromId(id: string | undefined): Mark | null {
  const [, xid, invocation, run, audit] = /^(\d{1,19})\.(\d{1,18})\.(\d{1,18})\.(\d{1,18})$/.exec(id ?? '') ?? [];
  return xid && invocation && run && audit ? { xid, invocation, run, audit } : null;
}

/** Workers come and go without a signal: what changed is what differs from the last look. */
export function workerEvents(before: ReadonlyMap<string, string>, now: WorkerInfo[], at: string): TenantEvent[] {
  return now.flatMap(({ worker_id, status }): TenantEvent[] =>
    before.get(worker_id) === status ? [] : [{ type: 'worker', id: worker_id, status, at }],
  );
}
