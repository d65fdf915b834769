import { readFile, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';

/** The user that Postgres runs as. It refuses to run as root. */
export interface Launch {
  readonly name: string;
  /** The required owner of its files; undefined if they can only be ours. */
  readonly owner: Identity | undefined;
  /** What goes in front of a command. */
  readonly prefix: readonly string[];
  /** The uid and gid to spawn with. */
  readonly credentials: Identity | Record<string, never>;
}

interface Identity {
  readonly uid: number;
  readonly gid: number;
}

/** Our own environment is not passed on: PGDATA, PGOPTIONS and the like would affect Postgres, and it may contain secrets. */
export const LAUNCH_ENV = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
} as const;

/** All ways worth trying, best first. A probe finds out which of them can access both the binaries and the data. */
export async function possibleLaunches(data_dir: string): Promise<Launch[]> {
  const users = await readUsers();
  if (process.getuid?.() !== 0) return hasName() ? [asOurselves] : [inNamespace(users, undefined)];
  const maker = await unprivilegedOwner(data_dir);
  const neighbour = await ownerAbove(dirname(data_dir));
  return [
    // Files keep their owner, so that one start with `sudo` does not lock that user out.
    ...(maker === undefined ? [] : [asUser(`as user ${maker.uid}`, maker)]),
    ...['nobody', 'postgres'].flatMap((name) => {
      const user = users.get(name);
      return user === undefined ? [] : [asUser(`as user ${name}`, user)];
    }),
    // Root without privileges can still enter folders that only root may enter (/root, a mkdtemp folder).
    inNamespace(users, { uid: 0, gid: 0 }),
    // Inside another user's private folder (`sudo` in a home folder) only that user has access.
    ...(neighbour === undefined ? [] : [asUser(`as user ${neighbour.uid}`, neighbour)]),
  ];
}

const asOurselves: Launch = { name: 'as this user', owner: undefined, prefix: [], credentials: {} };

const asUser = (name: string, identity: Identity): Launch => ({
  name,
  owner: identity,
  prefix: [],
  credentials: identity,
});

/** A user namespace in which we have another uid, while the files remain ours outside of it. */
function inNamespace(users: Map<string, Identity>, owner: Identity | undefined): Launch {
  // initdb needs a uid that has a name.
  const inside = users.get('nobody') ?? [...users.values()].find((user) => user.uid > 0) ?? { uid: 65534, gid: 65534 };
  return {
    name: 'in a user namespace',
    owner,
    prefix: ['unshare', '--user', `--map-user=${inside.uid}`, `--map-group=${inside.gid}`, '--'],
    credentials: {},
  };
}

async function readUsers(): Promise<Map<string, Identity>> {
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const users = new Map<string, Identity>();
  for (const line of passwd.split('\n')) {
    const [name, , uid, gid] = line.split(':');
    if (name !== undefined && Number(uid) > 0 && Number(gid) > 0)
      users.set(name, { uid: Number(uid), gid: Number(gid) });
  }
  return users;
}

/** Containers may run under a uid that has no entry in /etc/passwd. */
function hasName(): boolean {
  try {
    userInfo();
    return true;
  } catch {
    return false;
  }
}

async function unprivilegedOwner(path: string): Promise<Identity | undefined> {
  const entry = await stat(path).catch(() => undefined);
  return entry === undefined || entry.uid === 0 ? undefined : { uid: entry.uid, gid: entry.gid };
}

async function ownerAbove(folder: string): Promise<Identity | undefined> {
  const owner = await unprivilegedOwner(folder);
  return owner !== undefined || dirname(folder) === folder ? owner : ownerAbove(dirname(folder));
}
