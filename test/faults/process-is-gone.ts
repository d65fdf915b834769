import { spawnSync } from 'node:child_process';

/** Also when nobody has asked yet how it ended. */
export function processIsGone(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() === '' || stdout.startsWith('Z');
}
