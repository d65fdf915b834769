import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mount } from './sandbox.js';

/** A part of the system as a tool sees it: a directory or file, read-only, or a symbolic link. */
export type SystemPart = Mount & { symlink?: boolean };

const ROOTS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store', '/opt'];

/** What programs look for in /etc; the rest of it is not there. */
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

/**
 * The least that programs need of the system. The worker's home, its data and its sockets are not part of it. The files
 * of /etc are copied once into `directory`, and are one mount for each run instead of a dozen.
 */
export const readSystemView = async (directory: string): Promise<SystemPart[]> => {
  const etc = join(directory, 'etc');
  const exists = (name: string) => existsSync(join('/etc', name));
  const directories = ETC_DIRECTORIES.filter(exists);
  for (const name of ['.', 'ssl', ...directories]) await mkdir(join(etc, name), { recursive: true, mode: 0o755 });
  // Links stay links: where they lead is part of the system as well. What cannot be read is left out.
  for (const name of ETC_FILES.filter(exists))
    await cp(join('/etc', name), join(etc, name), { verbatimSymlinks: true }).catch(() => {});
  return [
    ...ROOTS.flatMap(toPart),
    { source: etc, path: '/etc' },
    ...directories.map((name) => ({ source: realpathSync(join('/etc', name)), path: join('/etc', name) })),
  ];
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

/** Whether a tool finds this file of the worker's machine. */
export const isVisible = (parts: readonly SystemPart[], file: string): boolean =>
  parts.some(({ path }) => file === path || file.startsWith(`${path}/`));
