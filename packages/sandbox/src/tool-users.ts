import { createHash, randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '@capstan/contracts';
import type { Identity } from './sandbox.js';

/** An inclusive range of user and group ids. */
export type UserRange = { first: number; last: number };

/** The user that owns nothing on nearly every Linux. Inside a sandbox, tools see themselves as this user. */
export const NOBODY = 65_534;
/** Ids that nothing else uses: above those of people, system services and containers. */
const HIGH: UserRange = { first: 1_900_000_000, last: 1_900_065_535 };
/** For containers whose user namespace has at most 65,536 ids. */
const LOW: UserRange = { first: 40_000, last: 59_999 };

/** The users that a worker running as root starts tools as: one for each tenant. */
export type ToolUsers = { of(tenant: string): Identity };

/** The last user of a range belongs to no tenant. It is for browsers, which all tenants share. */
export const reservedUser = ({ last }: UserRange): Identity => ({ uid: last, gid: last });

/** A range of ids that exists in this user namespace. */
export const defaultRange = (uid_map = readUidMap()): UserRange =>
  uid_map === null || isMapped(HIGH, uid_map) ? HIGH : LOW;

/** Null if the kernel has no user namespaces: then all ids exist. */
const readUidMap = (): string | null => {
  try {
    return readFileSync('/proc/self/uid_map', 'utf8');
  } catch {
    return null;
  }
};

const isMapped = ({ first, last }: UserRange, uid_map: string): boolean =>
  uid_map.split('\n').some((line) => {
    const [start = 0, , length = 0] = line.trim().split(/\s+/).map(Number);
    return start <= first && last < start + length;
  });

/**
 * `directory` records which tenant has which user, because the files of sessions keep their owner. All workers that share a work
 * directory agree: an entry is created with link(2), which succeeds for only one of them.
 */
export const openToolUsers = (directory: string, { first, last }: UserRange): ToolUsers => {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const known = new Map<string, NonNullable<Identity>>();
  const claim = (tenant: string): number => {
    const size = last - first;
    const start = createHash('sha256').update(tenant).digest().readUInt32BE() % size;
    const entry = join(directory, `.${randomUUID()}`);
    writeFileSync(entry, tenant, { mode: 0o600 });
    try {
      for (let step = 0; step < size; step += 1) {
        const uid = first + ((start + step) % size);
        if (owns(join(directory, `${uid}`), entry, tenant)) return uid;
      }
    } finally {
      rmSync(entry);
    }
    throw new Failure('RUNNER_FAILED', {
      detail: `all ${size} users for tools are taken by other tenants; widen CAPSTAN_TOOL_UIDS`,
      retryable: false,
    });
  };
  return {
    of: (tenant) => {
      const found = known.get(tenant);
      if (found) return found;
      const uid = claim(tenant);
      const identity = { uid, gid: uid };
      known.set(tenant, identity);
      return identity;
    },
  };
};

/** Claims the entry for the tenant. True if the tenant has it now, or had it before. */
const owns = (file: string, entry: string, tenant: string): boolean => {
  try {
    linkSync(entry, file);
    return true;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    return readFileSync(file, 'utf8') === tenant;
  }
};
