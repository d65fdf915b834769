import { execFileSync } from 'node:child_process';
import type { SandboxLevel } from '../sandbox.js';

const PROBES: Record<SandboxLevel, readonly [string, ...string[]]> = {
  bubblewrap: ['bwrap', '--unshare-all', '--ro-bind', '/', '/', 'true'],
  namespaces: ['unshare', '--user', '--map-current-user', '--keep-caps', '--pid', '--fork', '--mount', '--net', 'true'],
  process: ['true'],
};

/** Whether this machine supports the level at all, determined without the code under test. */
export const worksHere = (level: SandboxLevel): { works: boolean; name: string } => {
  const [file, ...args] = PROBES[level];
  try {
    execFileSync(file, args, { stdio: 'ignore' });
    return { works: true, name: level };
  } catch {
    return { works: false, name: `NOT TESTED: ${level} does not work on this machine` };
  }
};
