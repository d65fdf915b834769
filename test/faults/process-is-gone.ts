import { spawnSync } from 'node:child_process';

/** A zombie counts as gone. */
export function processIsGone(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() === '' || stdout.startsWith('Z');
}
