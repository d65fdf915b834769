import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { constants } from 'node:os';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { LAUNCH_ENV, type Launch } from './launch.js';

/**
 * A shell between us and Postgres that stops Postgres when this process ends for whatever reason: it waits for the end
 * of a pipe that we hold. When Postgres exits, the shell exits with its code.
 *
 * - SIGINT is a fast shutdown. It is repeated because a shell starts background commands with SIGINT ignored, so a
 *   signal sent before Postgres has set its handlers is lost. After a minute follows SIGQUIT (recovery at the next
 *   start), and after 90 s SIGKILL.
 * - The shell ignores signals that a service manager sends to everything it started; this process handles them.
 */
const GUARDIAN = `
exec 3<&0 </dev/null
"$@" >&2 3<&- &
server=$!
trap '' HUP INT TERM
echo "$server"
{
  read -r end <&3
  seconds=0
  while kill -INT "$server"; do
    [ "$seconds" -eq 60 ] && kill -QUIT "$server"
    [ "$seconds" -ge 90 ] && kill -KILL "$server"
    sleep 1
    seconds=$((seconds + 1))
  done
} >/dev/null 2>&1 &
watch=$!
exec 3<&-
wait "$server"
code=$?
kill -KILL "$watch"
exit "$code"
`;

export interface ServerExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface GuardedServer {
  /** The pid of Postgres, not of its guardian. */
  readonly pid: number;
  readonly exited: Promise<ServerExit>;
  /** Closes the pipe; resolves when Postgres has ended. */
  stop(): Promise<void>;
}

interface GuardedCommand {
  command: readonly string[];
  launch: Launch;
  log_file: string;
}

export async function startGuarded({ command, launch, log_file }: GuardedCommand): Promise<GuardedServer> {
  const { guardian, ended } = await spawnGuardian({ command, launch, log_file });
  const { stdin, stdout } = guardian;
  stdin?.on('error', () => undefined); // it ended before we did
  const pid = stdout === null ? undefined : await readPid(stdout);
  const exited = ended.then((exit) => {
    // If only the guardian was killed, its background part is still running and stops Postgres now.
    stdin?.destroy();
    return fromShell(exit);
  });
  if (pid === undefined) throw new Error(`the guardian of Postgres did not start: ${JSON.stringify(await exited)}`);
  const stop = async () => {
    stdin?.end();
    await exited;
  };
  return { pid, exited, stop };
}

async function spawnGuardian({ command, launch, log_file }: GuardedCommand) {
  const [file = '', ...args] = [...launch.prefix, 'sh', '-c', GUARDIAN, 'capstan-postgres-guardian', ...command];
  const log = await open(log_file, 'a', 0o600);
  try {
    const guardian = spawn(file, args, {
      ...launch.credentials,
      env: LAUNCH_ENV,
      cwd: '/',
      // A session of its own, so that Ctrl-C in a terminal only reaches us, and Postgres runs until we have drained.
      detached: true,
      stdio: ['pipe', 'pipe', log.fd],
    });
    const ended = awaitEnd(guardian);
    await once(guardian, 'spawn');
    return { guardian, ended };
  } finally {
    await log.close();
  }
}

function awaitEnd(child: ChildProcess): Promise<ServerExit> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
}

async function readPid(stdout: Readable): Promise<number | undefined> {
  for await (const line of createInterface({ input: stdout })) return Number(line);
  return undefined;
}

/** A shell reports a signal as 128 plus its number. */
function fromShell(exit: ServerExit): ServerExit {
  if (exit.code === null || exit.code <= 128) return exit;
  const number = exit.code - 128;
  for (const [name, value] of Object.entries(constants.signals)) {
    if (value === number && isSignal(name)) return { code: null, signal: name };
  }
  return exit;
}

const isSignal = (name: string): name is NodeJS.Signals => name in constants.signals;
