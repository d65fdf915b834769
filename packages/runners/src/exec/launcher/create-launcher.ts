import type { Cgroups } from '../../sandbox/cgroup/open-cgroups.js';
import { findExecutable } from '../../sandbox/find-executable.js';
import { prlimitArgs, type ResourceLimits } from '../../sandbox/resource-limits.js';
import type { Sandbox } from '../../sandbox/sandbox.js';
import { childrenOf } from '../children-of.js';
import type { OrphanGuard } from '../orphan-guard.js';
import { askRun, killUntilGone } from '../signal-run.js';
import type { Ending } from './ending.js';
import { createPipes } from './open-pipe.js';
import { type Output, openShell, type Shell } from './open-shell.js';
import { type ShellCommand, whyNotStarted } from './shell-command.js';
import { openTree, type Tree, type TreeUse } from './tree.js';

/**
 * Starts processes on behalf of the worker, through shells that wait for them. Node takes 2 to 3 ms of processor time to start
 * a process, because it copies the page tables of a large one; a shell takes next to nothing. What is the same for many
 * runs (who they run as, their limits, their cgroup) a shell has from its own start and hands down for free: `true` in
 * bubblewrap was 10.4 ms of processor time by Node with prlimit in front of it, and is 7.4.
 */
export type Launcher = {
  run(order: Order, output: Output): LaunchedRun;
  close(): Promise<void>;
};

export type Order = Pick<ShellCommand, 'launch' | 'stdin'> & {
  sandbox: Sandbox;
  limits: ResourceLimits;
  /** A shell serves one of them only. */
  tenant: string;
  onStart?(shell: number): void;
};
/** `ask` lets it end in good order first, `kill` does not. */
export type LaunchedRun = { stop(how: 'ask' | 'kill'): void; ended: Promise<Launched> };
/** `tree` where a cgroup tells. */
export type Launched = { ending: Ending; tree: TreeUse | null };

export type LauncherOptions = {
  guard: OrphanGuard;
  cgroups: Cgroups | null;
  /** Where pipes are made; they have a name there for a moment only. */
  directory: string;
};

/** Time to end in good order after SIGTERM. */
export const TERMINATION_MS = 500;
/** A shell counts its own processor time too, and must not come near the limit that it hands down. */
const MAX_RUNS = 1000;
const MAX_IDLE = 64;

/** `ready` when its shell is where it is bounded. */
type Slot = { shell: Shell; key: string; tree: Tree | null; ready: Promise<void>; runs: number };

export const createLauncher = ({ guard, cgroups, directory }: LauncherOptions): Launcher => {
  const idle: Slot[] = [];
  const open = new Set<Slot>();
  const sh = findExecutable('sh') ?? '/bin/sh';
  const prlimit = findExecutable('prlimit');
  const openPipe = createPipes(directory);

  const start = ({ sandbox, limits }: Order, key: string): Slot | Ending => {
    const { processes, ...inherited } = limits;
    const tree = cgroups && openTree(cgroups, limits);
    const limits_of_all = prlimit === null ? [] : prlimitArgs(prlimit, inherited);
    const around = [...limits_of_all, ...sandbox.around_shell];
    const shell = openShell({ sh, around, identity: sandbox.starter, openPipe });
    if ('kind' in shell) {
      tree?.remove();
      return shell;
    }
    const slot = { shell, key, tree, ready: shell.waits.then((pid) => tree?.join(pid)), runs: 0 };
    open.add(slot);
    guard.watch(shell.leader);
    void shell.gone.then(() => {
      guard.release(shell.leader);
      tree?.remove();
      open.delete(slot);
      const at = idle.indexOf(slot);
      if (at !== -1) idle.splice(at, 1);
    });
    return slot;
  };

  const take = (order: Order): Slot | Ending => {
    const key = JSON.stringify([order.tenant, order.limits]);
    const at = idle.findLastIndex((slot) => slot.key === key);
    return at === -1 ? start(order, key) : (idle.splice(at, 1)[0] ?? start(order, key));
  };

  /** Whoever waits for the run does not wait for this. */
  const giveBack = async (slot: Slot): Promise<void> => {
    try {
      await slot.tree?.renew();
    } catch {
      return slot.shell.kill();
    }
    if (!open.has(slot)) return;
    if (slot.runs >= MAX_RUNS) slot.shell.dismiss();
    else idle.push(slot);
    if (idle.length > MAX_IDLE) idle.shift()?.shell.dismiss();
  };

  return {
    run: (order, output) => {
      const { sandbox } = order;
      const why = whyNotStarted(order);
      const slot = why === null ? take(order) : ({ kind: 'not_started', ...why } as const);
      if ('kind' in slot) return { stop: () => {}, ended: Promise.resolve({ ending: slot, tree: null }) };
      const { shell } = slot;
      let late: NodeJS.Timeout | undefined;
      let asked = false;
      let killed = false;
      let stopKilling = () => {};
      const kill = () => {
        if (killed) return;
        killed = true;
        shell.waits.then(
          (pid) => {
            stopKilling = killUntilGone(sandbox, () => childrenOf(pid), shell.leader);
          },
          () => {},
        );
      };
      const stop = (how: 'ask' | 'kill') => {
        if (how === 'kill') return kill();
        asked = true;
        shell.waits.then(
          (pid) => askRun(sandbox, childrenOf(pid), shell.leader),
          () => {},
        );
        late = setTimeout(kill, TERMINATION_MS);
      };
      const finish = async (): Promise<Launched> => {
        await slot.ready.catch(kill);
        if (asked || killed) {
          clearTimeout(late);
          stopKilling();
          shell.kill();
          return { ending: { kind: 'killed', signal: 'SIGKILL' }, tree: null };
        }
        order.onStart?.(await shell.waits);
        slot.tree?.begin();
        const seen = await shell.run(order, output);
        clearTimeout(late);
        stopKilling();
        slot.runs += 1;
        const ending: Ending = killed ? { kind: 'killed', signal: 'SIGKILL' } : seen;
        // A shell that tools can reach serves once, and so does one whose run may have left something in its group.
        const goes_on = sandbox.holds === 'namespace' && seen.kind === 'exited' && open.has(slot);
        if (!goes_on) shell.kill();
        const failed = ending.kind !== 'exited' || ending.exit_code !== 0;
        const tree = slot.tree?.end({ failed, was_fed: order.stdin !== undefined }) ?? null;
        if (goes_on) void giveBack(slot);
        return { ending, tree };
      };
      return { stop, ended: finish() };
    },
    close: async () => {
      const all = [...open];
      for (const { shell } of all) shell.kill();
      await Promise.all(all.map(({ shell }) => shell.gone));
    },
  };
};
