import type { Sandbox } from '../sandbox.js';
import { childrenOf, signalGroup, signalProcess } from './processes.js';

/**
 * Ends a run at once through its first process: if that is pid 1, the kernel kills the whole namespace; `init` kills all its
 * descendants. The process that started it is left alone, because it reports when the run is gone. `starters` are the processes
 * that the worker, or one of its shells, has started.
 */
const killRun = ({ holds }: Pick<Sandbox, 'holds'>, starters: readonly number[]): void => {
  if (holds === 'namespace') for (const first of starters.flatMap(childrenOf)) signalProcess(first, 'SIGKILL');
  else for (const starter of starters) signalProcess(starter, holds === 'descendants' ? 'SIGQUIT' : 'SIGKILL');
};

/**
 * Asks the tool to exit. In bubblewrap the first process leads the tool's process group and is itself immune to the signal.
 * `unshare` and everything below it are in the group of the shell.
 */
const askRun = ({ level, holds }: Sandbox, starters: readonly number[], leader: number): void => {
  if (level === 'bubblewrap') for (const first of starters.flatMap(childrenOf)) signalGroup(first, 'SIGTERM');
  else if (holds === 'descendants') for (const starter of starters) signalProcess(starter, 'SIGTERM');
  else signalGroup(leader, 'SIGTERM');
};

const AGAIN_MS = 5;
/** The last resort: after this time the process group is killed, and what is left of the namespace with it. */
const GROUP_MS = 5000;

/** Repeats the kill until the returned function is called, because the run's first process may not exist yet. */
export const killUntilGone = (
  sandbox: Pick<Sandbox, 'holds'>,
  starters: () => readonly number[],
  leader: number,
): (() => void) => {
  killRun(sandbox, starters());
  const again = setInterval(() => killRun(sandbox, starters()), AGAIN_MS);
  const late = setTimeout(() => signalGroup(leader, 'SIGKILL'), GROUP_MS);
  return () => {
    clearInterval(again);
    clearTimeout(late);
  };
};

/** Time for a clean exit after SIGTERM. */
const TERMINATION_MS = 500;

/** The process that starts a run, and the leader of its process group. */
type Started = { pid: number; leader: number };

/** Stops one run: asks it to exit, and kills it if it does not. If `started` is null or rejects, there is nothing to stop. */
export class Stopper {
  readonly #sandbox: Sandbox;
  readonly #started: Promise<Started | null>;
  #asked = false;
  #killed = false;
  #ended = false;
  #late: NodeJS.Timeout | undefined;
  #stopKilling = () => {};

  constructor(sandbox: Sandbox, started: Promise<Started | null>) {
    this.#sandbox = sandbox;
    this.#started = started;
    started.catch(() => {});
  }

  get is_stopped(): boolean {
    return this.#asked || this.#killed;
  }

  get is_killed(): boolean {
    return this.#killed;
  }

  stop(how: 'ask' | 'kill'): void {
    if (how === 'kill') {
      this.#kill();
      return;
    }
    this.#asked = true;
    this.#onceStarted((pid, leader) => askRun(this.#sandbox, childrenOf(pid), leader));
    this.#late = setTimeout(() => this.#kill(), TERMINATION_MS);
  }

  /** Must be called when the run has ended. */
  ended(): void {
    this.#ended = true;
    clearTimeout(this.#late);
    this.#stopKilling();
  }

  #kill(): void {
    if (this.#killed) return;
    this.#killed = true;
    this.#onceStarted((pid, leader) => {
      this.#stopKilling = killUntilGone(this.#sandbox, () => childrenOf(pid), leader);
    });
  }

  #onceStarted(action: (pid: number, leader: number) => void): void {
    this.#started.then(
      (started) => {
        if (started !== null && !this.#ended) action(started.pid, started.leader);
      },
      () => {},
    );
  }
}
