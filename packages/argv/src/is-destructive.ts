import { programOf } from './judge-command.js';
import { isStarter } from './profile-book.js';

/** Programs that destroy, move or stop what they are given. */
const DESTROYERS = new Set(
  'rm rmdir unlink shred dd truncate mv chmod chown kill killall pkill mkfs mkswap wipefs fdisk shutdown reboot'.split(
    ' ',
  ),
);
/** Arguments that make a harmless program destructive: of find, rsync, git and tar. */
const DESTRUCTIVE_ARGUMENT = /^(-delete|--delete|--force|--hard|--remove-files)$/;

/**
 * Whether a command line destroys something, by itself or by what it starts: `rm`, `sudo rm`, `sh -c "rm -rf x"`,
 * `find -delete`. For advice only: no list of such programs is complete.
 */
export function isDestructive(file: string, args: readonly string[]): boolean {
  const program = nameOf(file);
  if (DESTROYERS.has(program)) return true;
  if (!isStarter(program)) return false;
  return args.some(
    (arg) => DESTRUCTIVE_ARGUMENT.test(arg) || arg.split(/[\s;&|()`'"]+/).some((word) => DESTROYERS.has(nameOf(word))),
  );
}

const nameOf = (file: string): string => {
  const program = programOf(file);
  return program.slice(program.lastIndexOf('/') + 1);
};
