import { Socket } from 'node:net';
import { basename } from 'node:path';
import { execa } from 'execa';

/**
 * Cleans up after a worker that is killed -9. A small shell process per runner reads from a pipe what runs; when the
 * worker is gone, however it went, the pipe ends, and the guard kills the process groups and removes the directories
 * that are left. `setpriv --pdeathsig` was the alternative: one more exec per run, Linux only, and it reaches the
 * tool itself but none of its children.
 *
 * Not covered: a worker killed in the millisecond between the fork of a tool and its entry here; processes that left
 * the group (see `signalGroup`); a machine without /bin/sh.
 */
export type OrphanGuard = {
  watch(leader: number, directory: string): void;
  release(leader: number): void;
  /** What still runs is killed. */
  close(): Promise<void>;
};

// Ignores the signals that a terminal or a service manager sends to everybody: the guard has to be the last to go.
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
for each in $live; do kill -s KILL -- "-\${each%%:*}"; done
for each in $live; do rm -rf -- "$1/\${each#*:}"; done
`;

export const createOrphanGuard = (work_dir: string): OrphanGuard => {
  const live = new Map<number, string>();
  let guard: GuardProcess | undefined;

  return {
    watch: (leader, directory) => {
      const entry = `${leader}:${basename(directory)}`;
      live.set(leader, entry);
      if (guard?.running) return guard.tell(`+ ${entry}`);
      guard = startGuard(work_dir);
      for (const each of live.values()) guard.tell(`+ ${each}`);
    },
    release: (leader) => {
      const entry = live.get(leader);
      if (live.delete(leader)) guard?.tell(`- ${entry}`);
    },
    close: async () => guard?.stop(),
  };
};

type GuardProcess = { readonly running: boolean; tell(line: string): void; stop(): Promise<void> };

const startGuard = (work_dir: string): GuardProcess => {
  const shell = execa('/bin/sh', ['-c', SCRIPT, 'capstan-orphan-guard', work_dir], {
    detached: true,
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'ignore',
    extendEnv: false,
    env: { PATH: '/usr/bin:/bin' },
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
