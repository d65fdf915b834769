import { Socket } from 'node:net';
import { execa } from 'execa';

/**
 * Cleans up after a worker that is killed -9. A small shell process per runner reads from a pipe what runs; when the
 * worker is gone, however it went, the pipe ends, and the guard kills the process groups that are left and removes the
 * worker's directory. Those are the groups of shells and of what starts sandboxes; namespaces and `init` end when these are gone.
 *
 * Not covered: a worker killed in the millisecond between the fork of a tool and its entry here; processes that left their group where
 * neither a namespace nor `init` holds them; a machine without /bin/sh.
 */
export type OrphanGuard = {
  /** The directory is removed at the end. */
  start(): void;
  watch(leader: number): void;
  release(leader: number): void;
  /** What still runs is killed. */
  close(): Promise<void>;
};

// Ignores the signals that a terminal or a service manager sends to everybody: the guard has to be the last to go.
// What was killed takes a moment to be gone, and until then it may still write.
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
  rm -rf -- "$1"
  for each in "$@"; do
    [ "$each" = "$1" ] || rmdir "$each"/*/ "$each"
    [ -e "$each" ] && left=yes
  done
  [ "$left" ] || break
  sleep $pause
done
`;

/** `cgroups` are emptied of what is below them, and removed as well. */
export const createOrphanGuard = (directory: string, cgroups: readonly string[] = []): OrphanGuard => {
  const live = new Set<number>();
  let guard: GuardProcess | undefined;
  const started = (): GuardProcess => {
    if (guard?.running) return guard;
    guard = startGuard([directory, ...cgroups]);
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
  // It may be gone when it is written to; the next run starts another.
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
