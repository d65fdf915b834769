import { readdir, stat } from 'node:fs/promises';
import { childrenOf } from '@capstan/sandbox';
import { execa } from 'execa';

export type SizeWatch = {
  /** Also counts deleted files that descendants of this process hold open. */
  follow(starter: number): void;
  stop(): void;
};

/** Between two checks a tool can write as much as the disk accepts in that time; the size of a single file has its own limit. */
const EVERY_MS = 1000;
/** More files than can be counted in this time are too many. */
const PATIENCE_MS = 5000;
const BLOCK = 512;
const MAX_PROCESSES = 4096;

/** Checks the disk usage of a run while it is running, and reports once if it is too much. */
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

/** The disk usage of all files below; infinite if they are too many to count. `du` follows no links and accepts paths of any length. */
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

/** Deleted files use space until they are closed. */
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
