import { constants } from 'node:os';
import { Failure } from '@capstan/contracts';
import type { Launch } from '../sandbox/sandbox.js';
import { type Launched, TERMINATION_MS } from './launcher/create-launcher.js';
import type { Ending } from './launcher/ending.js';
import { openLoneTree } from './lone-tree.js';
import { signalGroup } from './process-group.js';
import type { Running } from './run-command.js';
import { askToEnd } from './stop-process.js';

const END_OF_INPUT = '\u0004';

/** Runs a command in a terminal of its own. All it writes arrives as one stream, as a person would see it. */
export const runInTerminal = async (launch: Launch, running: Running): Promise<Launched> => {
  const { sandbox, limits, stdin, stdout, signal, flood, guard, cgroups } = running;
  const { spawn } = await loadPty();
  const { file, args, cwd, env, ...who } = launch;
  const terminal = spawn(file, [...args], {
    name: 'xterm-256color',
    cols: 120,
    rows: 40,
    cwd,
    env: { ...env },
    encoding: null,
    ...who,
  });
  const { pid } = terminal;
  const tree = cgroups && openLoneTree(cgroups, limits);
  const bounded = tree?.join(pid);
  if (!sandbox.dies_with_worker) guard.watch(pid);
  // Typed as text, given as bytes: there is no encoding.
  terminal.onData((data: string | Uint8Array) => stdout.write(Buffer.from(data)));
  const timers: NodeJS.Timeout[] = [];
  const stop = () => {
    askToEnd(sandbox.level, pid);
    timers.push(setTimeout(() => signalGroup(pid, 'SIGKILL'), TERMINATION_MS));
  };
  signal.addEventListener('abort', stop, { once: true });
  flood.addEventListener('abort', () => signalGroup(pid, 'SIGKILL'), { once: true });
  if (signal.aborted) stop();
  const ended = new Promise<Ending>((resolve) => {
    terminal.onExit(({ exitCode, signal: number = 0 }) =>
      resolve(number === 0 ? { kind: 'exited', exit_code: exitCode } : { kind: 'killed', signal: signalName(number) }),
    );
  });
  if (stdin !== undefined) terminal.write(stdin.endsWith('\n') || stdin === '' ? stdin : `${stdin}\n`);
  terminal.write(END_OF_INPUT);
  try {
    const ending = await ended;
    await bounded;
    return { ending, tree: tree?.use() ?? null };
  } finally {
    signal.removeEventListener('abort', stop);
    timers.forEach(clearTimeout);
    signalGroup(pid, 'SIGKILL');
    tree?.remove();
    if (!sandbox.dies_with_worker) guard.release(pid);
  }
};

const signalName = (number: number): string =>
  Object.entries(constants.signals).find(([, each]) => each === number)?.[0] ?? `signal ${number}`;

/** Native code, loaded by the first tool that wants a terminal. */
const loadPty = async () => {
  try {
    return await import('@lydell/node-pty');
  } catch (cause) {
    throw new Failure('RUNNER_FAILED', {
      detail:
        'a terminal needs the package @lydell/node-pty, which cannot be loaded on this worker: install it there ' +
        '(npm install @lydell/node-pty; it is ready-made for macOS and for Linux with glibc), or run without tty',
      retryable: false,
      cause,
    });
  }
};
