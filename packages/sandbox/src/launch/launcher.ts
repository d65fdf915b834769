import type { Containment } from '../containment.js';
import { findExecutable } from '../find-executable.js';
import { prlimitArgs, type ResourceLimits } from '../resource-limits.js';
import type { Sandbox } from '../sandbox.js';
import { createPipes, type Pipe } from './open-pipe.js';
import { type Ending, type Output, openShell, type Shell } from './open-shell.js';
import { runInTerminal } from './run-in-terminal.js';
import { type ShellCommand, whyNotStarted } from './shell-command.js';
import { Stopper } from './signal-run.js';
import { openTree, type Tree, type TreeUse } from './tree.js';

export type Order = Pick<ShellCommand, 'launch' | 'stdin'> & {
  sandbox: Sandbox;
  limits: ResourceLimits;
  /** A shell serves one tenant only. */
  tenant: string;
  /** Runs in its own terminal instead of with pipes. */
  tty: boolean;
  /** Called with the process that the whole run descends from. */
  onStart?(starter: number): void;
  /** Called right before the tool starts. It may still stop the run. */
  beforeStart?(): void;
};
/** `ask` allows a clean exit first, `kill` does not. */
export type LaunchedRun = { stop(how: 'ask' | 'kill'): void; ended: Promise<Launched> };
/** `tree` is null without cgroups. */
export type Launched = { ending: Ending; tree: TreeUse | null };

/** A shell's own CPU time counts too, and must not come near the limit that runs inherit from it. */
const MAX_RUNS = 1000;
const MAX_IDLE = 64;
const KILLED: Ending = { kind: 'killed', signal: 'SIGKILL' };

/** `ready` resolves when the shell is in its cgroup. */
type Slot = { shell: Shell; key: string; tree: Tree | null; ready: Promise<void>; runs: number };

/**
 * Starts processes for the worker through waiting shells. Node needs 2 to 3 ms of CPU time to start a process, because the fork
 * copies the page tables of a large one; a shell needs almost none. What many runs share (user, limits, cgroup) a shell sets up
 * once, and its runs inherit it for free: `true` in bubblewrap took 10.4 ms of CPU time from Node with prlimit, and takes 7.4.
 */
export class Launcher {
  readonly #containment: Pick<Containment, 'guard' | 'cgroups'>;
  readonly #openPipe: () => Pipe;
  readonly #sh = findExecutable('sh') ?? '/bin/sh';
  readonly #prlimit = findExecutable('prlimit');
  readonly #open = new Set<Slot>();
  readonly #idle: Slot[] = [];

  constructor(containment: Pick<Containment, 'guard' | 'cgroups' | 'pipes'>) {
    this.#containment = containment;
    // A pipe has a name in the directory only until its run has ended.
    this.#openPipe = createPipes(containment.pipes);
  }

  run(order: Order, output: Output): LaunchedRun {
    if (order.tty) return runInTerminal(order, output, this.#containment);
    const why = whyNotStarted(order);
    const slot = why === null ? this.#take(order) : ({ kind: 'not_started', ...why } as const);
    if ('kind' in slot) return { stop: () => {}, ended: Promise.resolve({ ending: slot, tree: null }) };
    const { leader, waits } = slot.shell;
    const stopper = new Stopper(
      order.sandbox,
      waits.then((pid) => ({ pid, leader })),
    );
    return { stop: (how) => stopper.stop(how), ended: this.#runIn(slot, order, output, stopper) };
  }

  /** Kills what is still running. */
  async close(): Promise<void> {
    const all = [...this.#open];
    for (const { shell } of all) shell.kill();
    await Promise.all(all.map(({ shell }) => shell.gone));
  }

  async #runIn(slot: Slot, order: Order, output: Output, stopper: Stopper): Promise<Launched> {
    const { shell, tree } = slot;
    await slot.ready.catch(() => stopper.stop('kill'));
    if (!stopper.is_stopped) {
      order.onStart?.(await shell.waits);
      order.beforeStart?.();
    }
    if (stopper.is_stopped) {
      stopper.ended();
      shell.kill();
      return { ending: KILLED, tree: null };
    }
    tree?.begin();
    const seen = await shell.run(order, output);
    stopper.ended();
    slot.runs += 1;
    const ending = stopper.is_killed ? KILLED : seen;
    // A shell that its tools can reach is used once, and so is one whose run may have left processes in its group.
    const goes_on = order.sandbox.holds === 'namespace' && seen.kind === 'exited' && this.#open.has(slot);
    if (!goes_on) shell.kill();
    const failed = ending.kind !== 'exited' || ending.exit_code !== 0;
    const use = tree?.end({ failed, was_fed: order.stdin !== undefined }) ?? null;
    // In the background: the caller does not need to wait for it.
    if (goes_on) void this.#giveBack(slot);
    return { ending, tree: use };
  }

  #take(order: Order): Slot | Ending {
    const key = JSON.stringify([order.tenant, order.limits]);
    const at = this.#idle.findLastIndex((slot) => slot.key === key);
    const [idle] = at === -1 ? [] : this.#idle.splice(at, 1);
    return idle ?? this.#start(order, key);
  }

  #start({ sandbox, limits }: Order, key: string): Slot | Ending {
    const { guard, cgroups } = this.#containment;
    const { processes, ...inherited } = limits;
    const tree = cgroups && openTree(cgroups, limits);
    const limits_of_all = this.#prlimit === null ? [] : prlimitArgs(this.#prlimit, inherited);
    const around = [...limits_of_all, ...sandbox.around_shell];
    const shell = openShell({ sh: this.#sh, around, identity: sandbox.starter, openPipe: this.#openPipe });
    if ('kind' in shell) {
      tree?.remove();
      return shell;
    }
    const slot: Slot = { shell, key, tree, ready: shell.waits.then((pid) => tree?.join(pid)), runs: 0 };
    this.#open.add(slot);
    guard.watch(shell.leader);
    void shell.gone.then(() => this.#forget(slot));
    return slot;
  }

  #forget(slot: Slot): void {
    this.#containment.guard.release(slot.shell.leader);
    slot.tree?.remove();
    this.#open.delete(slot);
    const at = this.#idle.indexOf(slot);
    if (at !== -1) this.#idle.splice(at, 1);
  }

  async #giveBack(slot: Slot): Promise<void> {
    try {
      await slot.tree?.renew();
    } catch {
      return slot.shell.kill();
    }
    if (!this.#open.has(slot)) return;
    if (slot.runs >= MAX_RUNS) slot.shell.dismiss();
    else this.#idle.push(slot);
    if (this.#idle.length > MAX_IDLE) this.#idle.shift()?.shell.dismiss();
  }
}
