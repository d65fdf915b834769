import { statSync } from 'node:fs';

/** What a process may do below a directory, or to a file. */
export type LandlockRule = { path: string; access: 'read' | 'write' };
export type Landlock = {
  /** The kernel's Landlock ABI version. */
  abi: number;
  rules: readonly LandlockRule[];
  /** Whether TCP is permitted. */
  network: boolean;
};

const EXECUTE = 1;
const WRITE_FILE = 2;
const READ_FILE = 4;
const READ_DIRECTORY = 8;
const REFER = 1 << 13;
const TRUNCATE = 1 << 14;
const IOCTL_DEVICE = 1 << 15;
const MAKE_DEVICE = 0x0840;

const READ = EXECUTE | READ_FILE | READ_DIRECTORY;
/** The rights that apply to files. */
const OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE;

/** TCP since version 4; signals and abstract sockets to others since version 6. */
const BIND_AND_CONNECT = 3;
const SIGNALS_AND_ABSTRACT_SOCKETS = 3;

const known = (abi: number): number =>
  0x1fff | (abi >= 2 ? REFER : 0) | (abi >= 3 ? TRUNCATE : 0) | (abi >= 5 ? IOCTL_DEVICE : 0);

/** `struct landlock_ruleset_attr`, in the length that this version knows. */
export const rulesetOf = ({ abi, network }: Landlock): Buffer => {
  const bytes = Buffer.alloc(abi >= 6 ? 24 : abi >= 4 ? 16 : 8);
  bytes.writeUInt32LE(known(abi));
  if (abi >= 4 && !network) bytes.writeUInt32LE(BIND_AND_CONNECT, 8);
  if (abi >= 6) bytes.writeUInt32LE(SIGNALS_AND_ABSTRACT_SOCKETS, 16);
  return bytes;
};

/** `struct landlock_path_beneath_attr`. The descriptor at its end is filled in once the path is open. */
export const pathBeneath = ({ path, access }: LandlockRule, abi: number): Buffer => {
  const is_directory = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const all = access === 'read' ? READ : known(abi) & ~MAKE_DEVICE;
  const bytes = Buffer.alloc(12);
  bytes.writeUInt32LE((is_directory ? all : all & OF_FILES) & known(abi));
  return bytes;
};

export const DESCRIPTOR_AT = 8;
