import { closeSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

const SHELLS = words(
  'sh bash dash ash zsh ksh ksh93 mksh lksh pdksh oksh yash rbash rksh rzsh csh tcsh fish pwsh elvish nu xonsh osh busybox toybox',
);
/** A program to run: as it was named, what the name leads to, and whether anybody but an administrator put it there. */
export type Started = { file: string; real_file: string; is_own: boolean };

/**
 * Whether this is a shell, by name, by a link, or as a script that somebody wrote into the work directory. Scripts of the
 * system and of extensions are programs like any other; programs that start others are judged by their arguments.
 */
export const isShell = ({ file, real_file, is_own }: Started): boolean =>
  [file, real_file].some((path) => SHELLS.has(nameOf(path))) ||
  (is_own && interpreterOf(real_file).some((word) => SHELLS.has(nameOf(word))));

const nameOf = (path: string): string => basename(path).toLowerCase();

/** The words of a script's first line. A text without one is run by a shell as well. */
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
