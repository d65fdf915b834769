import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import type { Command, Ending, Order, Report, Stop } from './spawner-messages.js';

/**
 * Starts processes on behalf of the worker. To start one, Node copies the page tables of the process that does, and both
 * sides pay for it: with 90 MB more in memory, bubblewrap was started 150 instead of 240 times a second. A worker has that
 * much and more; so a process of its own does it, which is small and stays so.
 */
export type Spawner = {
  run(order: Order, hooks: RunHooks): SpawnedRun;
  close(): Promise<void>;
};

export type RunHooks = {
  stdout(chunk: Uint8Array): void;
  stderr(chunk: Uint8Array): void;
  /** For what does not die by itself with the worker. */
  started(pid: number): void;
};

export type SpawnedRun = { stop(how: Stop): void; ended: Promise<Ending> };

/** One can start a few hundred a second. */
const CORES_PER_HELPER = 4;

export const createSpawner = (): Spawner => {
  const count = Math.max(1, Math.ceil(availableParallelism() / CORES_PER_HELPER));
  const helpers = Array.from({ length: count }, createHelper);
  let turn = 0;
  return {
    run: (order, hooks) => {
      turn = (turn + 1) % count;
      // There is always one: `turn` is below `count`.
      return (helpers[turn] ?? createHelper()).run(order, hooks);
    },
    close: async () => {
      await Promise.all(helpers.map((helper) => helper.close()));
    },
  };
};

type Waiting = RunHooks & { end(ending: Ending): void };

const LOST: Ending = { kind: 'not_started', code: 'LOST', message: 'the process that starts tools ended meanwhile' };

/** Started by the first run, and again by the next one when it is gone. */
const createHelper = (): Spawner => {
  const waiting = new Map<number, Waiting>();
  let helper: ChildProcess | undefined;
  let last_id = 0;

  const take = (report: Report): void => {
    const run = waiting.get(report.id);
    if (run === undefined) return;
    if ('stream' in report) run[report.stream](report.chunk);
    else if ('pid' in report) run.started(report.pid);
    else {
      waiting.delete(report.id);
      if (waiting.size === 0) rest(helper);
      run.end(report.ending);
    }
  };

  const start = (): ChildProcess => {
    const fresh = fork(new URL(FILE, import.meta.url), [], {
      serialization: 'advanced',
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      // What it was started with can be read in /proc; there is nothing in it.
      env: {},
      execArgv: ['--max-semi-space-size=2'],
    });
    fresh.on('message', take);
    fresh.once('exit', () => {
      if (helper === fresh) helper = undefined;
      for (const [id, run] of waiting) {
        waiting.delete(id);
        run.end(LOST);
      }
    });
    fresh.on('error', () => {});
    return fresh;
  };

  const send = (command: Command): void => {
    // One that is about to go takes nothing any more; its end settles what waits for it.
    if (helper?.connected) helper.send(command, () => {});
  };

  return {
    run: (order, hooks) => {
      if (!helper?.connected) helper = start();
      if (waiting.size === 0) work(helper);
      last_id += 1;
      const id = last_id;
      const ended = new Promise<Ending>((end) => waiting.set(id, { ...hooks, end }));
      send({ id, run: order });
      return { ended, stop: (stop) => send({ id, stop }) };
    },
    close: async () => {
      const open = helper;
      if (open === undefined) return;
      const gone = new Promise((resolve) => open.once('exit', resolve));
      if (open.connected) open.disconnect();
      work(open);
      await gone;
    },
  };
};

/** It must not keep an idle worker alive, but one with a run under way. */
const rest = (helper: ChildProcess | undefined): void => {
  helper?.unref();
  helper?.channel?.unref();
};
const work = (helper: ChildProcess): void => {
  helper.ref();
  helper.channel?.ref();
};

const FILE = import.meta.url.endsWith('.ts') ? '../../../dist/exec/spawner/spawner-process.js' : './spawner-process.js';
