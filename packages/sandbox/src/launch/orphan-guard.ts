import { Socket } from 'node:net';
import { execa } from 'execa';

/**
 * Cleans up after a worker that was killed with -9. A small shell process for each runner reads from a pipe which process groups
 * are running. When the worker is gone, for whatever reason, the pipe closes, and the guard kills the groups that are left and
 * removes the worker's directories. The groups are those of shells and of the programs that start sandboxes; namespaces and `init`
 * end with them.
 *
 * Not covered: a worker killed in the millisecond between the fork of a tool and its entry here; processes that left their group
 * where neither a namespace nor `init` contains them; a machine without /bin/sh.
 */
export type OrphanGuard = {
  /** Without it, no guard runs, and the directory stays, until something is watched. */
  start(): void;
  watch(leader: number): void;
  release(leader: number): void;
  /** Kills what is still running. */
  close(): Promise<void>;
};

// Ignores the signals that a terminal or a service manager sends to all processes: the guard must exit last.
// Removal is retried, because killed processes need a moment to disappear and may write until then.
const SCRIPT = `
trap '' HUP INT TERM
live=
while read -r change entry; do
  case $change in
    +) live="$live $entry" ;;
    -) rest=
       for each in $live; do [ "$each" = "$entry" ] || rest="$rest $each"; done
       live=$rest ;;
  esac
done
for each in $live; do kill -s KILL -- "-$each"; done
for pause in 0.05 0.2 1; do
  left=
  rm -rf -- "$1" "$2"
  for each in "$@"; do
    case $each in
      "$1" | "$2") ;;
      *) rmdir "$each"/*/ "$each" ;;
    esac
    [ -e "$each" ] && left=yes
  done
  [ "$left" ] || break
  sleep $pause
done
`;

/** Also removes the directory of `pipes`, and the `cgroups` and those directly below them. */
export const createOrphanGuard = (
  directory: string,
  pipes: string = directory,
  cgroups: readonly string[] = [],
): OrphanGuard => {
  const live = new Set<number>();
  let guard: GuardProcess | undefined;
  const started = (): GuardProcess => {
    if (guard?.running) return guard;
    guard = startGuard([directory, pipes, ...cgroups]);
    for (const leader of live) guard.tell(`+ ${leader}`);
    return guard;
  };

  return {
    start: () => {
      started();
    },
    watch: (leader) => {
      const process = started();
      live.add(leader);
      process.tell(`+ ${leader}`);
    },
    release: (leader) => {
      if (live.delete(leader)) guard?.tell(`- ${leader}`);
    },
    close: async () => guard?.stop(),
  };
};

type GuardProcess = { readonly running: boolean; tell(line: string): void; stop(): Promise<void> };

const startGuard = (directories: readonly string[]): GuardProcess => {
  const shell = execa('/bin/sh', ['-c', SCRIPT, 'capstan-orphan-guard', ...directories], {
    detached: true,
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'ignore',
    extendEnv: false,
    env: { PATH: '/usr/bin:/bin' },
    cwd: '/',
    reject: false,
  });
  let running = shell.pid !== undefined;
  shell.once('exit', () => {
    running = false;
  });
  // It may be gone by the time of a write. The next run starts another.
  shell.stdin.on('error', () => {
    running = false;
  });
  // It must not keep an idle worker alive.
  shell.unref();
  if (shell.stdin instanceof Socket) shell.stdin.unref();
  return {
    get running() {
      return running;
    },
    tell: (line) => {
      if (running) shell.stdin.write(`${line}\n`);
    },
    stop: async () => {
      shell.ref();
      shell.stdin.end();
      await shell;
    },
  };
};
