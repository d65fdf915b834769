import type { Step } from './explore.js';
import {
  beginStatement,
  commit,
  type Database,
  type Row,
  type Rows,
  runStatement,
  type Session,
  type Statement,
} from './read-committed.js';
import {
  type Clerk,
  FREE_CLERK,
  MAX_ATTEMPTS,
  type Receipt,
  receiptIn,
  receiptsOf,
  type State,
  type Variant,
} from './receipt-state.js';

export function rescueSteps(state: State, { rescue }: Variant): Step<State>[] {
  const { database, rescuer } = state;
  const name = 'rescuer';
  const put = (change: Partial<Clerk>, rest: Partial<State> = {}): State => ({
    ...state,
    ...rest,
    rescuer: { ...rescuer, ...change },
  });
  const run = (statement: Statement) => runStatement(database, rescuer.session, { name, statement });
  const begun = beginStatement(database, rescuer.session);
  const ended = (session: Session, from: Database) => put(FREE_CLERK, { database: commit(from, session, name) });
  switch (rescuer.at) {
    case 'idle':
      return receiptsOf(database.rows).flatMap(([receipt, { owner }]) =>
        owner === null
          ? []
          : [{ label: `rescuer begins to rescue ${receipt}`, next: put({ at: 'first', receipt, session: begun }) }],
      );
    case 'first': {
      const merged = rescue === 'one statement';
      const deleted = run({
        locks: () => [rescuer.receipt],
        effect: (locked, snapshot) => {
          const receipt = receiptIn(locked, rescuer.receipt);
          const insert = receipt && merged ? whatIsLeftOf(receipt, snapshot) : {};
          return { remove: Object.keys(locked), insert };
        },
      });
      if (!deleted) return [];
      const calls = receiptIn(deleted.locked, rescuer.receipt);
      const next =
        merged || !calls
          ? ended(deleted.session, deleted.database)
          : put({ at: 'between', session: deleted.session, calls }, { database: deleted.database });
      return [{ label: `rescuer ${calls ? 'deletes' : 'does not find'} ${rescuer.receipt}`, next }];
    }
    case 'between':
      return [{ label: 'rescuer begins its second statement', next: put({ at: 'second', session: begun }) }];
    case 'second': {
      const { calls } = rescuer;
      const returned = run({
        locks: () => [],
        effect: (_, snapshot) => (calls ? { insert: whatIsLeftOf(calls, snapshot) } : {}),
      });
      if (!returned) return [];
      return [{ label: 'rescuer commits what was left', next: ended(returned.session, returned.database) }];
    }
    case 'done':
      return [];
  }
}

/** What rescue inserts for calls without a result: work to be done again, or an end. */
function whatIsLeftOf({ calls, attempt }: Receipt, snapshot: Rows): Rows {
  const open = calls.filter((call) => snapshot[`result/${call}`] === undefined);
  return Object.fromEntries(
    open.map((call): [string, Row] => {
      if (call !== 'a') return [`result/${call}`, { status: 'ambiguous' }];
      return attempt < MAX_ATTEMPTS ? [`work/${call}`, { attempt }] : [`result/${call}`, { status: 'failed' }];
    }),
  );
}

export function cancelSteps(state: State): Step<State>[] {
  const { database, canceler } = state;
  const name = 'canceler';
  if (canceler.at === 'idle' && database.rows['work/a']) {
    const session = beginStatement(database, canceler.session);
    return [
      { label: 'canceler begins to cancel a', next: { ...state, canceler: { ...canceler, at: 'first', session } } },
    ];
  }
  if (canceler.at !== 'first') return [];
  const canceled = runStatement(database, canceler.session, {
    name,
    statement: {
      locks: () => ['work/a'],
      effect: (locked) =>
        locked['work/a'] ? { remove: ['work/a'], insert: { 'result/a': { status: 'canceled' } } } : {},
    },
  });
  if (!canceled) return [];
  const done: Clerk = { ...FREE_CLERK, at: 'done' };
  const next = { ...state, canceler: done, database: commit(canceled.database, canceled.session, name) };
  return [{ label: `canceler ${canceled.locked['work/a'] ? 'cancels a' : 'comes too late'}`, next }];
}

/** Sends the job of a receipt without an owner once more: Redis may have been wiped, or may only be slow. */
export function redeliverySteps(state: State): Step<State>[] {
  if (state.redelivered) return [];
  return receiptsOf(state.database.rows).flatMap(([key, { owner }]) =>
    owner === null
      ? [
          {
            label: `coordinator delivers ${key} again`,
            next: { ...state, redelivered: true, jobs: [...state.jobs, key] },
          },
        ]
      : [],
  );
}
