import { randomUUID } from 'node:crypto';
import { constants } from 'node:os';
import { Failure } from '@capstan/contracts';
import type { Containment } from '../containment.js';
import { findExecutable } from '../find-executable.js';
import type { Launched, LaunchedRun, Order } from './launcher.js';
import type { Ending, Output } from './open-shell.js';
import { signalGroup } from './processes.js';
import { Stopper } from './signal-run.js';
import { openLoneTree, SANDBOX, SHELL } from './tree.js';

const END_OF_INPUT = '\u0004';
/** The kernel drops input beyond this length until the line ends. */
export const MAX_LINE = 4095;

export const fitsTerminal = (stdin: string): boolean =>
  stdin.split('\n').every((line) => Buffer.byteLength(line) <= MAX_LINE);

/** Runs a command in its own terminal. Its output arrives as one stream, as a person would see it. */
export const runInTerminal = (
  order: Order,
  output: Output,
  containment: Pick<Containment, 'guard' | 'cgroups'>,
): LaunchedRun => {
  const opening = loadPty().then(({ spawn }) => {
    order.beforeStart?.();
    return stopper.is_stopped ? null : openTerminal(spawn, order, output);
  });
  const stopper = new Stopper(
    order.sandbox,
    opening.then((terminal) => terminal && { pid: terminal.pid, leader: terminal.pid }),
  );
  const ended = opening
    .then((terminal) => (terminal === null ? NOT_STARTED : follow(terminal, order, containment)))
    .finally(() => stopper.ended());
  return { stop: (how) => stopper.stop(how), ended };
};

/** It was stopped right before the start. */
const NOT_STARTED: Launched = { ending: { kind: 'killed', signal: 'SIGKILL' }, tree: null };

/** Writes the input and waits for the end. Meanwhile its processes are limited, and watched by the orphan guard. */
const follow = async (
  { pid, type, ending }: Terminal,
  { limits, stdin = '', onStart }: Order,
  { guard, cgroups }: Pick<Containment, 'guard' | 'cgroups'>,
): Promise<Launched> => {
  const tree = cgroups && openLoneTree(cgroups, limits, SHELL + SANDBOX);
  const bounded = tree?.join(pid);
  guard.watch(pid);
  onStart?.(pid);
  type(stdin);
  try {
    const how = await ending;
    await bounded;
    return { ending: how, tree: tree?.use() ?? null };
  } finally {
    signalGroup(pid, 'SIGKILL');
    tree?.remove();
    guard.release(pid);
  }
};

/**
 * Keeps the terminal open until all output has been read: the shell stops itself and waits to be killed. Once the other end is
 * closed, Node drops what it has not read yet: `seq 100000` lost its last lines two times in three.
 */
const holding = (mark: string): string => `trap : INT QUIT TERM; "$@"; printf '%s%s\\n' ${mark} $?; kill -s STOP $$`;

type Spawn = Awaited<ReturnType<typeof loadPty>>['spawn'];
type Terminal = { pid: number; type(stdin: string): void; ending: Promise<Ending> };

const openTerminal = (spawn: Spawn, { launch }: Order, { stdout }: Output): Terminal => {
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
  const ending = new Promise<Ending>((resolve) => {
    const read = readToMark(mark, stdout, (exit_code) => resolve({ kind: 'exited', exit_code }));
    // The declared type is string, but without an encoding it is bytes.
    terminal.onData((data: string | Uint8Array) => read(Buffer.from(data)));
    terminal.onExit(({ exitCode, signal = 0 }) =>
      resolve(signal === 0 ? { kind: 'exited', exit_code: exitCode } : { kind: 'killed', signal: signalName(signal) }),
    );
  });
  const type = (stdin: string) => {
    terminal.write(stdin.endsWith('\n') || stdin === '' ? stdin : `${stdin}\n`);
    terminal.write(END_OF_INPUT);
  };
  return { pid: terminal.pid, type, ending };
};

const signalName = (number: number): string =>
  Object.entries(constants.signals).find(([, each]) => each === number)?.[0] ?? `signal ${number}`;

/** Native code, loaded when the first tool needs a terminal. */
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

/**
 * Passes on the output of a run up to `mark`, a number and a line end. The mark is random, so no output contains it. Only bytes
 * that may be the beginning of the mark are held back.
 */
const readToMark = (
  mark: string,
  onData: (chunk: Uint8Array) => void,
  onEnd: (status: number) => void,
): ((chunk: Buffer) => void) => {
  const wanted = Buffer.from(mark);
  let held: Buffer | null = null;
  return (chunk) => {
    const data = held === null ? chunk : Buffer.concat([held, chunk]);
    const at = startOf(wanted, data);
    if (at > 0) onData(data.subarray(0, at));
    held = at < data.length ? data.subarray(at) : null;
    if (held === null || held.length <= wanted.length || held.at(-1) !== LINE_END) return;
    onEnd(Number(held.toString('latin1', wanted.length)));
  };
};

const LINE_END = 10;

/** The offset of the mark, or of what may be its beginning; the length of the data if there is neither. */
const startOf = (wanted: Buffer, data: Buffer): number => {
  const whole = data.indexOf(wanted);
  if (whole !== -1) return whole;
  for (let at = Math.max(0, data.length - wanted.length + 1); at < data.length; at += 1)
    if (wanted.subarray(0, data.length - at).equals(data.subarray(at))) return at;
  return data.length;
};
