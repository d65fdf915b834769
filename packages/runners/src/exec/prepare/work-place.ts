import { createHash } from 'node:crypto';
import { lchownSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { lstat, readdir, realpath, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '@capstan/contracts';
import { type Containment, makeOwned, type Sandbox } from '@capstan/sandbox';
import { execa } from 'execa';

export const ARTIFACTS = 'artifacts';
const SESSIONS = 'sessions';
const FORGOTTEN_MS = 30 * 24 * 3_600_000;
/** How many directories are kept for reuse, for each tenant. */
const MAX_SPARE = 64;

/** The directory of one run. */
export type WorkPlace = {
  directory: string;
  /** It belongs to a session and is not removed after the run. */
  stays: boolean;
  /** A second directory for temporary files, if the sandbox has no private /tmp. */
  temporary: string | null;
};

export type SessionOf = { tenant: string; session_id: string; extension_id: string };

/** Creates and reuses the work directories of runs. */
export type WorkPlaces = {
  /** An empty directory that only the tool's user can enter. */
  forRun(tenant: string, sandbox: Sandbox): WorkPlace;
  /** The directory that all runs of an extension in a session share. */
  forSession(session: SessionOf, sandbox: Sandbox): Promise<WorkPlace>;
  /** Whether a run left nothing behind. */
  isUntouched(place: WorkPlace): boolean;
  giveBack(tenant: string, sandbox: Sandbox, place: WorkPlace): Promise<void>;
};

/**
 * Nearly every run leaves its directory untouched, and then the next run of the same tenant reuses it: creating and removing two
 * directories took a tenth of the time of a short run. Where processes may outlive their run, directories are not reused.
 */
export const createWorkPlaces = (containment: Containment): WorkPlaces => {
  const spare = new Map<string, string[]>();
  /** What a directory was like before its first run. */
  const stamps = new Map<string, string>();
  let made = 0;

  const make = ({ identity }: Sandbox): string => {
    made += 1;
    const directory = join(containment.directory, `run-${made}`);
    makeOwned(directory, identity);
    makeOwned(join(directory, ARTIFACTS), identity);
    stamps.set(directory, stampOf(directory));
    return directory;
  };
  const makeTemporary = ({ identity, maps_paths }: Sandbox): string | null => {
    if (maps_paths) return null;
    made += 1;
    const directory = join(containment.directory, `tmp-${made}`);
    makeOwned(directory, identity);
    return directory;
  };

  const looked_at = new WeakMap<WorkPlace, boolean>();
  /** Called after the run, when nothing changes any more. */
  const isUntouched = (place: WorkPlace): boolean => {
    const untouched = looked_at.get(place) ?? (!place.stays && isAsMade(place.directory, stamps.get(place.directory)));
    looked_at.set(place, untouched);
    return untouched;
  };

  return {
    forRun: (tenant, sandbox) => ({
      directory: spare.get(tenant)?.pop() ?? make(sandbox),
      stays: false,
      temporary: makeTemporary(sandbox),
    }),
    forSession: async (session, sandbox) => ({
      directory: await openSession(containment.root, sandbox.identity, session),
      stays: true,
      temporary: makeTemporary(sandbox),
    }),
    isUntouched,
    giveBack: async (tenant, { holds }, place) => {
      if (place.temporary !== null) await removeByDescriptors(place.temporary);
      if (place.stays) return;
      const directories = spare.get(tenant) ?? [];
      if (holds === 'group' || directories.length >= MAX_SPARE || !isUntouched(place)) {
        stamps.delete(place.directory);
        return holds === 'group' ? removeByDescriptors(place.directory) : removeTree(place.directory);
      }
      directories.push(place.directory);
      spare.set(tenant, directories);
    },
  };
};

/**
 * A tool owns its directories, so it may have changed their permissions, access lists and attributes, which a later run would see.
 * Each of these changes the ctime, which no tool can set.
 */
const isAsMade = (directory: string, stamp: string | undefined): boolean => {
  try {
    return (
      readdirSync(directory).length === 1 &&
      readdirSync(join(directory, ARTIFACTS)).length === 0 &&
      stampOf(directory) === stamp
    );
  } catch {
    return false;
  }
};

const stampOf = (directory: string): string =>
  [directory, join(directory, ARTIFACTS)]
    .map((each) => lstatSync(each, { bigint: true }))
    .map(({ ino, mode, ctimeNs }) => `${ino} ${mode} ${ctimeNs}`)
    .join();

/** The name is a hash, so no part of it can lead out of the folder. */
const openSession = async (
  root: string,
  identity: Sandbox['identity'],
  { tenant, session_id, extension_id }: SessionOf,
): Promise<string> => {
  const sessions = join(root, SESSIONS);
  mkdirSync(sessions, { recursive: true, mode: identity ? 0o711 : 0o700 });
  const name = createHash('sha256')
    .update(JSON.stringify([tenant, extension_id, session_id]))
    .digest('hex');
  const directory = join(sessions, name);
  await removeForeign(directory, identity);
  for (const each of [directory, join(directory, ARTIFACTS)])
    try {
      makeOwned(each, identity);
    } catch (error) {
      if (!isCode(error, 'EEXIST')) throw error;
    }
  if (!(await lstat(directory)).isDirectory() || (await realpath(directory)) !== directory)
    throw new Failure('RUNNER_FAILED', {
      detail: 'the work directory of this session is not a directory',
      retryable: false,
    });
  // Marks the session as used, so that it is not removed.
  await utimes(directory, new Date(), new Date());
  return directory;
};

/**
 * A directory of another user was created before each tenant had its own user. It is removed instead of handed over, because it may
 * contain links to files that are not the tenant's.
 */
export const removeForeign = async (directory: string, identity: Sandbox['identity']): Promise<void> => {
  const found = await lstat(directory).catch(() => null);
  if (found !== null && identity !== null && found.uid !== identity.uid) await removeByDescriptors(directory);
};

export const writeFiles = (
  directory: string,
  files: Readonly<Record<string, string>>,
  identity: Sandbox['identity'],
): void => {
  for (const [name, content] of Object.entries(files)) {
    const file = join(directory, name);
    writeFileSync(file, content, { mode: 0o600, flag: 'wx' });
    if (identity) lchownSync(file, identity.uid, identity.gid);
  }
};

/** For what nobody changes any more. */
const removeTree = async (directory: string): Promise<void> => {
  try {
    await rm(directory, { recursive: true, force: true, maxRetries: 3, retryDelay: 20 });
  } catch {
    await removeByDescriptors(directory);
  }
};

/**
 * These two go by file descriptors, so no link that appears meanwhile leads them elsewhere. They also take directories
 * without write permission, and paths too long for the system calls that take paths. What even they leave is no reason to
 * fail the run, which is over.
 */
const removeByDescriptors = async (directory: string): Promise<void> => {
  const quietly = { reject: false, stdio: 'ignore' } as const;
  const { exitCode } = await execa('rm', ['-rf', '--', directory], quietly);
  if (exitCode === 0) return;
  await execa('chmod', ['-R', 'u+rwx', '--', directory], quietly);
  await execa('rm', ['-rf', '--', directory], quietly);
};

/** Removes the directories of sessions that are no longer used. */
export const removeForgottenSessions = async ({ root }: Containment): Promise<void> => {
  const sessions = join(root, SESSIONS);
  for (const name of await readdir(sessions).catch(() => [])) {
    const { mtimeMs } = await lstat(join(sessions, name)).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > FORGOTTEN_MS) await removeTree(join(sessions, name));
  }
};

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
