import { closeSync, openSync, readSync } from 'node:fs';
import { isShellName } from '@capstan/argv';

/** A program to run: its name, the file that the name leads to, and whether someone other than an administrator installed it. */
export type Started = { file: string; real_file: string; is_own: boolean };

/**
 * True for a shell, by name, through a link, or as a script in the work directory. Scripts of the system and of extensions count as normal programs.
 * Programs that start others are judged by their arguments.
 */
export const isShell = ({ file, real_file, is_own }: Started): boolean =>
  [file, real_file].some(isShellName) || (is_own && interpreterOf(real_file).some(isShellName));

/** The interpreter line of a script. Without one, a shell runs the script as well. */
const interpreterOf = (file: string): string[] => {
  const start = Buffer.alloc(256);
  try {
    const descriptor = openSync(file, 'r');
    try {
      const text = start.toString('latin1', 0, readSync(descriptor, start));
      if (text.startsWith('#!')) return (text.slice(2).split('\n', 1)[0] ?? '').split(/[ \t]/);
      return text.startsWith('\u007fELF') ? [] : ['sh'];
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return [];
  }
};
