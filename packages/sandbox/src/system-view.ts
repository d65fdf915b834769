import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { LandlockRule } from './init/landlock.js';
import type { Mount } from './sandbox.js';

/** A part of the system as a tool sees it: a directory or file, read-only, or a symbolic link. */
export type SystemPart = Mount & { symlink?: boolean };

const ROOTS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store', '/opt'];

/** What programs look for in /etc. The rest is not visible. */
const ETC_FILES = [
  'group',
  'ld.so.cache',
  'localtime',
  'magic',
  'mime.types',
  'nsswitch.conf',
  'os-release',
  'passwd',
  'protocols',
  'services',
  'ssl/openssl.cnf',
  'timezone',
];
const ETC_DIRECTORIES = ['alternatives', 'fonts', 'java', 'pki/ca-trust/extracted', 'pki/tls/certs', 'ssl/certs'];

/** The folder that tools see as /etc. */
export const ETC = 'etc';
/** The path of `init` inside the sandbox. It is below /etc because that is mounted anyway. */
export const INITS = '/etc/capstan';

/** The files that a tool may use at the level `process`, where it has no view of its own. */
export const PUBLIC_FILES: readonly LandlockRule[] = [
  ...ROOTS,
  ...[...ETC_FILES, ...ETC_DIRECTORIES, 'hosts', 'resolv.conf', 'ld.so.conf', 'ld.so.conf.d', 'ca-certificates'].map(
    (name) => `/etc/${name}`,
  ),
  '/proc',
  ...['/sys/devices/system', '/sys/fs/cgroup', '/sys/kernel/mm'],
  ...['/dev/fd', '/dev/random', '/dev/urandom'],
]
  .map((path): LandlockRule => ({ path, access: 'read' }))
  .concat(['null', 'zero', 'full', 'tty'].map((name) => ({ path: `/dev/${name}`, access: 'write' as const })));

/** For programs that open terminals of their own. */
export const TERMINALS: readonly LandlockRule[] = ['/dev/ptmx', '/dev/pts'].map((path) => ({ path, access: 'write' }));

/**
 * The minimum that programs need of the system. The worker's home, data and sockets are not part of it. The files of /etc are
 * copied once into `directory`, so that a run needs one mount for them instead of a dozen: each mount takes 0.4 ms.
 */
export const readSystemView = async (directory: string): Promise<SystemPart[]> => {
  const etc = join(directory, ETC);
  const exists = (name: string) => existsSync(join('/etc', name));
  for (const name of ['.', 'ssl']) await mkdir(join(etc, name), { recursive: true, mode: 0o755 });
  // Links stay links, because their targets are part of the view as well. Unreadable files are left out.
  const copy = (from: string, name: string) =>
    cp(from, join(etc, name), { recursive: true, verbatimSymlinks: true, force: true }).catch(() => {});
  for (const name of ETC_FILES.filter(exists)) await copy(join('/etc', name), name);
  for (const name of ETC_DIRECTORIES.filter(exists)) await copy(realpathSync(join('/etc', name)), name);
  return [...ROOTS.flatMap(toPart), { source: etc, path: '/etc' }];
};

const toPart = (path: string): SystemPart[] => {
  try {
    const stat = lstatSync(path);
    if (stat.isSymbolicLink()) return [{ symlink: true, source: readlinkSync(path), path }];
    return [{ file: !stat.isDirectory(), source: path, path }];
  } catch {
    return [];
  }
};

/** Whether a tool can see this file of the worker's machine. */
export const isVisible = (parts: readonly SystemPart[], file: string): boolean =>
  parts.some(({ path }) => file === path || file.startsWith(`${path}/`));
