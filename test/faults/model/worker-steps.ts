import type { Step } from './explore.js';
import { beginStatement, commit, IDLE, rollback, runStatement, type Statement } from './read-committed.js';
import {
  callOf,
  FREE_WORKER,
  type Receipt,
  receiptIn,
  type State,
  type Variant,
  type Worker,
} from './receipt-state.js';

/** What a worker can do next: take or own calls, run them, settle them, die. */
export function workerSteps(state: State, name: string, { settle, own }: Variant): Step<State>[] {
  const worker = state.workers[name] ?? FREE_WORKER;
  const { database } = state;
  const put = (change: Partial<Worker>, rest: Partial<State> = {}): State => ({
    ...state,
    ...rest,
    workers: { ...state.workers, [name]: { ...worker, ...change } },
  });
  const step = (label: string, next: State): Step<State> => ({ label: `${name} ${label}`, next });
  const begin = (label: string, change: Partial<Worker>, rest: Partial<State> = {}) =>
    step(label, put({ ...change, session: beginStatement(database, worker.session) }, rest));
  const run = (statement: Statement) => runStatement(database, worker.session, { name, statement });
  const death = step('dies', put({ ...FREE_WORKER, at: 'dead' }, { database: rollback(database, name) }));
  const mayDie = name === 'worker 1' && worker.at !== 'idle' && worker.at !== 'dead' ? [death] : [];

  switch (worker.at) {
    case 'dead':
      return [];
    case 'idle': {
      const waits = Object.keys(database.rows).some((key) => key.startsWith('work/'));
      const [job, ...jobs] = state.jobs;
      return [
        ...(waits ? [begin('begins to take', { at: 'taking' })] : []),
        ...(job ? [begin(`gets the job of ${job}`, { at: 'owning', receipt: job }, { jobs })] : []),
      ];
    }
    case 'taking': {
      const key = `receipt/${state.receipts_made}`;
      const took = run(takeStatement(key, name));
      if (!took) return mayDie;
      const calls = Object.keys(took.locked).map(callOf);
      const rest = { database: commit(took.database, took.session, name), receipts_made: state.receipts_made + 1 };
      if (calls.length === 0) return [step('takes nothing', put(FREE_WORKER, { database: rest.database })), ...mayDie];
      const busy: Worker = { ...FREE_WORKER, at: 'running', receipt: key, to_run: calls };
      return [step(`takes ${calls.join(' and ')} as ${key}`, put(busy, rest)), ...mayDie];
    }
    case 'owning': {
      const owned = run(ownStatement(worker.receipt, name, own));
      if (!owned) return mayDie;
      const rest = { database: commit(owned.database, owned.session, name) };
      const receipt = receiptIn(owned.session.writes, worker.receipt);
      if (!receipt) return [step(`does not get ${worker.receipt}`, put(FREE_WORKER, rest)), ...mayDie];
      const busy: Worker = { ...FREE_WORKER, at: 'running', receipt: worker.receipt, to_run: receipt.calls };
      return [step(`owns ${worker.receipt}`, put(busy, rest)), ...mayDie];
    }
    case 'running': {
      const runs = worker.to_run.map((call) =>
        step(
          `runs ${call}`,
          put(
            { to_run: worker.to_run.filter((other) => other !== call), to_settle: [...worker.to_settle, call].sort() },
            { effects: { ...state.effects, [call]: (state.effects[call] ?? 0) + 1 } },
          ),
        ),
      );
      const settling = settle === 'locks the receipt' ? 'locking' : 'settling';
      const settles = worker.to_settle.length === 0 ? [] : [begin('begins to settle', { at: settling })];
      return [...runs, ...settles, ...mayDie];
    }
    case 'locking': {
      const locked = run({ locks: () => [worker.receipt], effect: () => ({}) });
      if (!locked) return mayDie;
      if (Object.keys(locked.locked).length === 0)
        return [step('finds its receipt gone', put(FREE_WORKER, { database: rollback(locked.database, name) }))];
      const rest = { database: locked.database };
      return [step(`locks ${worker.receipt}`, put({ at: 'locked', session: locked.session }, rest)), ...mayDie];
    }
    case 'locked':
      return [begin('begins to write results', { at: 'settling' }), ...mayDie];
    case 'settling': {
      const settled = run(settleStatement(worker.receipt, worker.to_settle));
      if (!settled) return mayDie;
      const rest = { database: commit(settled.database, settled.session, name) };
      const after = worker.to_run.length === 0 ? FREE_WORKER : { at: 'running' as const, session: IDLE, to_settle: [] };
      return [step(`commits the results of ${worker.to_settle.join(' and ')}`, put(after, rest)), ...mayDie];
    }
  }
}

const takeStatement = (key: string, owner: string): Statement => ({
  locks: (snapshot) => Object.keys(snapshot).filter((row) => row.startsWith('work/')),
  skip_locked: true,
  effect: (locked) => {
    const calls = Object.keys(locked).map(callOf);
    if (calls.length === 0) return {};
    const attempt = 1 + Math.max(...Object.values(locked).map((row) => Number(row.attempt)));
    const receipt: Receipt = { owner, calls, attempt };
    return { remove: Object.keys(locked), insert: { [key]: receipt } };
  },
});

const ownStatement = (key: string, owner: string, own: Variant['own']): Statement => ({
  locks: () => [key],
  effect: (locked) => {
    const receipt = receiptIn(locked, key);
    return receipt && (own === 'always' || receipt.owner === null) ? { update: { [key]: { ...receipt, owner } } } : {};
  },
});

const settleStatement = (key: string, done: readonly string[]): Statement => ({
  locks: () => [],
  effect: (_, snapshot) => {
    const receipt = receiptIn(snapshot, key);
    if (!receipt) return {};
    const kept = done.filter((call) => receipt.calls.includes(call));
    const insert = Object.fromEntries(kept.map((call) => [`result/${call}`, { status: 'succeeded' }]));
    const complete = receipt.calls.every((call) => snapshot[`result/${call}`] || insert[`result/${call}`]);
    return { insert, remove: complete ? [key] : [] };
  },
});
