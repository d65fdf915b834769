import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import {
  defaultRange,
  type Identity,
  type InitOrder,
  reservedUser,
  type Sandbox,
  type UserRange,
} from '@capstan/sandbox';

export type Containment = Pick<Sandbox, 'level' | 'features' | 'holds'> & {
  /** True if Chromium uses its own sandbox as well. */
  own_sandbox: boolean;
  /** The command line before `init`. `$profile` and `$home` are set by the surrounding script. */
  prefix: string[];
  /** Null if `init` is not available. */
  init: InitOrder | null;
  /** The user who owns the files of the browser; null for the worker's own. */
  identity: Identity;
};

/**
 * The ways to contain a browser, strongest first. In bubblewrap, it sees a read-only system, its own profile and its own processes, and is not root,
 * so Chromium's sandbox for pages works as well. Without bubblewrap, only Chromium's sandbox is left, which does not work as root: then the browser
 * runs as another user, if that user can access it.
 */
export async function containments(
  path: string,
  readable: string[],
  { has_init, tool_uids }: { has_init: boolean; tool_uids?: UserRange | undefined },
): Promise<Containment[]> {
  const bwrap = process.platform === 'linux' ? await findIn(path, 'bwrap') : null;
  const is_root = process.getuid?.() === 0;
  const init = (tree: InitOrder['tree'], own_sandbox: boolean, identity: Identity): InitOrder | null =>
    has_init ? { ...PLAIN, tree, identity, filter: { sockets: 'inet', own_sandbox } } : null;
  const features = has_init ? (['seccomp'] as const) : [];
  // On some machines bubblewrap can create namespaces, but nothing inside of it can.
  const contained = (bwrap === null ? [] : [true, false]).map(
    (own_sandbox): Containment => ({
      ...{ level: 'bubblewrap', features, holds: 'namespace', own_sandbox, identity: null },
      prefix: [...bubblewrap(bwrap ?? '', readable), ...(has_init ? ['--as-pid-1'] : []), '--'],
      init: init('namespace', own_sandbox, null),
    }),
  );
  const bare = (level: 'namespaces' | 'process', identity: Identity): Containment => ({
    level,
    features: [...features, ...(identity === null ? [] : (['uid'] as const))],
    holds: has_init ? 'descendants' : 'group',
    own_sandbox: level === 'namespaces',
    prefix: [],
    init: init('descendants', level === 'namespaces', identity),
    identity,
  });
  if (!is_root) return [...contained, bare('namespaces', null), bare('process', null)];
  const user = has_init ? [bare('process', reservedUser(tool_uids ?? defaultRange()))] : [];
  return [...contained, ...user, bare('process', null)];
}

/** Playwright talks to the browser through descriptors 3 and 4. */
const PLAIN = { terminal: false, descriptors: 5, limits: [], files: null } as const;

const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/opt'];
/** Not all of /etc, because the worker's user may be allowed to read more there than a page should. */
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
  '--bind "$profile" "$profile" --bind "$home" "$home" --ro-bind-try "$home/init" "$home/init" --chdir /',
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
