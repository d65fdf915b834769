import { readdir, readFile } from 'node:fs/promises';

/** The processes, in any namespace, with this text in their command line. Zombies have no command line. */
export const processesWith = async (text: string): Promise<number[]> => {
  const pids = (await readdir('/proc')).map(Number).filter(Boolean);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      return line.includes(text) && pid !== process.pid ? [pid] : [];
    }),
  );
  return found.flat();
};
