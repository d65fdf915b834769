import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import type { Io } from '../io.js';
import type { Check } from './check.js';
import { findExecutable } from './find-executable.js';

const BUBBLEWRAP = ['--unshare-all', '--ro-bind', '/', '/', '--proc', '/proc', 'true'];
const UNSHARE = ['--user', '--map-current-user', '--keep-caps', '--pid', '--fork', '--mount', '--net', 'true'];
const PATIENCE_MS = 5_000;

const ALLOW =
  'The kernel refuses user namespaces: see sysctl user.max_user_namespaces and kernel.apparmor_restrict_unprivileged_userns; in a container, allow them.';
const INSTALL =
  'Install bubblewrap (apt install bubblewrap, dnf install bubblewrap) for the strongest sandbox of exec tools.';

/** Finds the sandbox that exec tools get on this machine, by trying each: an installed one may not work. */
export const checkSandbox = (env: Io['env']): Check => {
  const name = 'sandbox';
  const bubblewrap = findExecutable(['bwrap'], env);
  if (hasBubblewrap(env)) return { name, state: 'ok', found: `bubblewrap, ${bubblewrap}` };
  const unshare = findExecutable(['unshare'], env);
  const setpriv = findExecutable(['setpriv'], env);
  const advice = bubblewrap === null ? INSTALL : ALLOW;
  return unshare !== null && setpriv !== null && works(unshare, UNSHARE)
    ? { name, state: 'absent', found: `namespaces, ${unshare}`, advice }
    : { name, state: 'absent', found: 'none: only tools of LOW risk run here', advice };
};

/** Whether memory is limited for a tool as a whole, or only for each of its processes. */
export const checkCgroups = async (): Promise<Check> => {
  const { openCgroups } = await import('@capstan/worker');
  const cgroups = openCgroups();
  cgroups?.close();
  return cgroups === null
    ? {
        name: 'cgroups',
        state: 'absent',
        found: 'none of our own: memory is limited for each process of a tool, not for all of them together',
        advice:
          'Optional: run the worker where it may make cgroups (systemd: Delegate=yes; as root outside of a container).',
      }
    : { name: 'cgroups', state: 'ok', found: cgroups.folders.map((folder) => dirname(folder)).join(', ') };
};

/** Without prlimit, nothing stops a tool from using up memory, files and processes. */
export const checkLimits = (env: Io['env']): Check => {
  const path = findExecutable(['prlimit'], env);
  return path === null
    ? {
        name: 'limits',
        state: 'absent',
        found: 'no prlimit',
        advice: 'Install util-linux, for limits on what a tool uses.',
      }
    : { name: 'limits', state: 'ok', found: path };
};

export const hasBubblewrap = (env: Io['env']): boolean => {
  const bubblewrap = findExecutable(['bwrap'], env);
  return bubblewrap !== null && works(bubblewrap, BUBBLEWRAP);
};

const works = (file: string, args: readonly string[]): boolean =>
  spawnSync(file, args, { stdio: 'ignore', env: {}, timeout: PATIENCE_MS }).status === 0;
