import { Socket } from 'node:net';
import { execa } from 'execa';

export type OrphanWatch = { dismiss(): void };

// Waits on a pipe whose other end this process holds, so it continues however this process ends.
const SCRIPT = `
trap '' HUP INT TERM
read -r word
[ "$word" = dismissed ] && exit
kill -s QUIT "$1"
sleep 0.05
kill -s KILL -- "-$1"
shift
for pause in 0.05 0.2 1; do
  rm -rf -- "$@"
  sleep $pause
done
`;

/** If this process is killed, ends the browser's processes and removes its folders. */
export function watchOrphan(leader: number, folders: string[]): OrphanWatch {
  const shell = execa('/bin/sh', ['-c', SCRIPT, 'capstan-browser-watch', String(leader), ...folders], {
    detached: true,
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'ignore',
    extendEnv: false,
    env: { PATH: '/usr/bin:/bin' },
    cwd: '/',
    reject: false,
  });
  shell.stdin.on('error', () => {});
  shell.unref();
  if (shell.stdin instanceof Socket) shell.stdin.unref();
  return {
    dismiss: () => {
      shell.stdin.end('dismissed\n');
    },
  };
}
