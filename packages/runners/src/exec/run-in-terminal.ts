import { randomUUID } from 'node:crypto';
import { constants } from 'node:os';
import { Failure } from '@capstan/contracts';
import { findExecutable } from '../sandbox/find-executable.js';
import type { Launch } from '../sandbox/sandbox.js';
import { childrenOf } from './children-of.js';
import { type Launched, TERMINATION_MS } from './launcher/create-launcher.js';
import type { Ending } from './launcher/ending.js';
import { readToMark } from './launcher/read-to-mark.js';
import { SANDBOX, SHELL } from './launcher/tree.js';
import { openLoneTree } from './lone-tree.js';
import { signalGroup } from './process-group.js';
import type { Running } from './run-command.js';
import { askRun, killUntilGone } from './signal-run.js';

const END_OF_INPUT = '\u0004';
/** The kernel drops what is typed beyond it before the line ends. */
export const MAX_LINE = 4095;

export const fitsTerminal = (stdin: string): boolean =>
  stdin.split('\n').every((line) => Buffer.byteLength(line) <= MAX_LINE);

/**
 * Holds the terminal open until all that the tool wrote has been read, and so waits, stopped, to be killed: once nobody
 * has the other end any more, Node drops what it has not read yet. `seq 100000` lost its last lines two times in three.
 */
const holding = (mark: string): string => `trap : INT QUIT TERM; "$@"; printf '%s%s\\n' ${mark} $?; kill -s STOP $$`;

/** Runs a command in a terminal of its own. All it writes arrives as one stream, as a person would see it. */
export const runInTerminal = async (launch: Launch, running: Running): Promise<Launched> => {
  const { sandbox, limits, stdin, stdout, signal, excess, onStart, guard, cgroups } = running;
  const { spawn } = await loadPty();
  const { file, args, cwd, env, ...who } = launch;
  const mark = randomUUID();
  const terminal = spawn(findExecutable('sh') ?? '/bin/sh', ['-c', holding(mark), 'capstan', file, ...args], {
    name: 'xterm-256color',
    cols: 120,
    rows: 40,
    cwd,
    env: { ...env },
    encoding: null,
    ...who,
  });
  const { pid } = terminal;
  const tree = cgroups && openLoneTree(cgroups, limits, SHELL + SANDBOX);
  const bounded = tree?.join(pid);
  guard.watch(pid);
  onStart(pid);
  const ended = new Promise<Ending>((resolve) => {
    const read = readToMark(mark, stdout.write, (exit_code) => resolve({ kind: 'exited', exit_code }));
    // Typed as text, given as bytes: there is no encoding.
    terminal.onData((data: string | Uint8Array) => read(Buffer.from(data)));
    terminal.onExit(({ exitCode, signal: number = 0 }) =>
      resolve(number === 0 ? { kind: 'exited', exit_code: exitCode } : { kind: 'killed', signal: signalName(number) }),
    );
  });
  let late: NodeJS.Timeout | undefined;
  let stopKilling = () => {};
  const kill = () => {
    stopKilling();
    stopKilling = killUntilGone(sandbox, () => childrenOf(pid), pid);
  };
  const stop = () => {
    askRun(sandbox, childrenOf(pid), pid);
    late = setTimeout(kill, TERMINATION_MS);
  };
  signal.addEventListener('abort', stop, { once: true });
  excess.addEventListener('abort', kill, { once: true });
  if (signal.aborted) stop();
  if (stdin !== undefined) terminal.write(stdin.endsWith('\n') || stdin === '' ? stdin : `${stdin}\n`);
  terminal.write(END_OF_INPUT);
  try {
    const ending = await ended;
    await bounded;
    return { ending, tree: tree?.use() ?? null };
  } finally {
    signal.removeEventListener('abort', stop);
    clearTimeout(late);
    stopKilling();
    signalGroup(pid, 'SIGKILL');
    tree?.remove();
    guard.release(pid);
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
