import { readdir, stat } from 'node:fs/promises';
import { execa } from 'execa';
import { childrenOf } from './children-of.js';

export type SizeWatch = {
  /** Also counts files without a name that descendants of this process hold open. */
  follow(starter: number): void;
  stop(): void;
};

/** In between a tool can write what the disk takes in that time, and no single file above its own limit. */
const EVERY_MS = 1000;
/** Whoever has more files than can be counted in this time has too many. */
const PATIENCE_MS = 5000;
const BLOCK = 512;
const MAX_PROCESSES = 4096;

/** Looks at what a run has on disk while it goes on, and tells once when it is too much. */
export const watchSize = (
  directories: readonly string[],
  max_bytes: number,
  onExcess: (max_bytes: number) => void,
): SizeWatch => {
  let starter: number | null = null;
  let timer: NodeJS.Timeout | undefined;
  let over = false;
  const look = async (): Promise<void> => {
    const named = await sizeOf(directories);
    const unnamed = starter === null ? 0 : await sizeOfUnnamed(starter, directories);
    if (over) return;
    if (named + unnamed > max_bytes) onExcess(max_bytes);
    else again();
  };
  const again = () => {
    timer = setTimeout(() => void look(), EVERY_MS);
  };
  again();
  return {
    follow: (pid) => {
      starter = pid;
    },
    stop: () => {
      over = true;
      clearTimeout(timer);
    },
  };
};

/** On disk, of all files below; infinite when they are too many to count. `du` follows no links and takes paths of any length. */
export const sizeOf = async (directories: readonly string[]): Promise<number> => {
  const { stdout, timedOut } = await execa('du', ['-sk', '--', ...directories], {
    reject: false,
    stderr: 'ignore',
    timeout: PATIENCE_MS,
    killSignal: 'SIGKILL',
  });
  if (timedOut) return Number.POSITIVE_INFINITY;
  const sizes = stdout.split('\n').map((line) => Number.parseInt(line, 10) || 0);
  return sizes.reduce((sum, kib) => sum + kib * 1024, 0);
};

/** Files that were removed while they are open take their room until they are closed. */
const sizeOfUnnamed = async (starter: number, directories: readonly string[]): Promise<number> => {
  const disks = await Promise.all(directories.map(async (each) => (await stat(each).catch(() => null))?.dev));
  const seen = new Map<number, number>();
  for (const pid of descendantsOf(starter)) {
    const folder = `/proc/${pid}/fd`;
    for (const name of await readdir(folder).catch(() => [])) {
      const file = await stat(`${folder}/${name}`).catch(() => null);
      if (file?.isFile() && file.nlink === 0 && disks.includes(file.dev)) seen.set(file.ino, file.blocks * BLOCK);
    }
  }
  return [...seen.values()].reduce((sum, bytes) => sum + bytes, 0);
};

const descendantsOf = (pid: number): number[] => {
  const found: number[] = [];
  for (let fresh = childrenOf(pid); fresh.length > 0 && found.length < MAX_PROCESSES; fresh = fresh.flatMap(childrenOf))
    found.push(...fresh);
  return found;
};
