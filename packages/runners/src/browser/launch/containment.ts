import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import type { RunFacts } from '@capstan/contracts';

export type Level = NonNullable<RunFacts['sandbox']>;

export type Containment = {
  level: Level;
  /** Whether Chromium may use its own sandbox as well. */
  own_sandbox: boolean;
  /** What stands before the browser in the command line; `$profile` and `$home` are set by the script around it. */
  prefix: string[];
};

/**
 * The ways to contain a browser, the strongest first. Inside of bubblewrap it sees a read-only system, its own profile and
 * its own processes, and is not root, so that Chromium's sandbox for pages works as well. Without bubblewrap that sandbox
 * is all there is, and root cannot have it.
 */
export async function containments(path: string, readable: string[]): Promise<Containment[]> {
  const bwrap = process.platform === 'linux' ? await findIn(path, 'bwrap') : null;
  const isRoot = process.getuid?.() === 0;
  const contained = bwrap
    ? // Some machines let bubblewrap make namespaces, and nobody inside of it.
      [true, false].map((own_sandbox) => ({
        level: 'bubblewrap' as const,
        own_sandbox,
        prefix: bubblewrap(bwrap, readable),
      }))
    : [];
  return [
    ...contained,
    ...(isRoot ? [] : [{ level: 'namespaces' as const, own_sandbox: true, prefix: [] }]),
    { level: 'process', own_sandbox: false, prefix: [] },
  ];
}

const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/opt'];
/** Not all of /etc: who starts it may be allowed to read more there than a page should. */
const SETTINGS = [
  'alternatives',
  'ca-certificates',
  'chromium',
  'chromium.d',
  'fonts',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'nsswitch.conf',
  'opt',
  'pki',
  'ssl',
].map((name) => `/etc/${name}`);

const bubblewrap = (bwrap: string, readable: string[]): string[] => [
  quoted(bwrap),
  '--unshare-user --uid 1000 --gid 1000 --unshare-pid --unshare-ipc --unshare-uts --die-with-parent --new-session',
  ...[...SYSTEM, ...SETTINGS].map((folder) => `--ro-bind-try ${folder} ${folder}`),
  '--proc /proc --dev /dev --tmpfs /tmp --tmpfs /dev/shm',
  ...readable.map((folder) => `--ro-bind-try ${quoted(folder)} ${quoted(folder)}`),
  '--bind "$profile" "$profile" --bind "$home" "$home" --chdir / --',
];

export const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

async function findIn(path: string, name: string): Promise<string | null> {
  for (const folder of path.split(delimiter).filter(isAbsolute)) {
    const file = join(folder, name);
    if (
      await access(file, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return file;
  }
  return null;
}
