import { readFile } from 'node:fs/promises';

/** The resident memory of a process and all its descendants; null if /proc is not available. */
export async function treeMemory(pid: number): Promise<number | null> {
  try {
    const [own, below] = await Promise.all([resident(pid), children(pid)]);
    const parts = await Promise.all(below.map(treeMemory));
    return parts.reduce<number>((sum, part) => sum + (part ?? 0), own);
  } catch {
    return null;
  }
}

const PAGE_BYTES = 4096;

async function resident(pid: number): Promise<number> {
  // Shared pages would be counted once for each process. Private pages show the growth.
  const [, rss = '0', shared = '0'] = (await readFile(`/proc/${pid}/statm`, 'utf8')).split(' ');
  return (Number(rss) - Number(shared)) * PAGE_BYTES;
}

async function children(pid: number): Promise<number[]> {
  const listed = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return listed.split(' ').filter(Boolean).map(Number);
}
