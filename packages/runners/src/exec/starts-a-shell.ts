import { closeSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

const SHELLS = words(
  'sh bash dash ash zsh ksh ksh93 mksh lksh pdksh oksh yash rbash rksh rzsh csh tcsh fish pwsh elvish nu xonsh osh busybox toybox',
);
/** These take a command line, and give it to a shell. */
const TAKES_COMMAND_LINE = words(
  'su sg script watch parallel at batch crontab tmux screen expect xterm newgrp runuser',
);
/** These start the program that their arguments name. */
export const WRAPPERS = words(
  'env xargs nice nohup timeout stdbuf setsid time ionice chrt taskset prlimit setpriv flock unshare nsenter chroot bwrap ' +
    'strace ltrace doas sudo setarch linux32 linux64 i386 x86_64 unbuffer valgrind gdb rlwrap systemd-run perf entr ' +
    'start-stop-daemon capsh proot firejail dumb-init tini su-exec gosu catchsegv faketime fakeroot chpst softlimit ' +
    'daemonize choom coresched uclampset dbus-run-session xvfb-run',
);
/** These start a program that one of their options names. */
const BY_OPTION = words('find fd fdfind tar rsync ssh scp sftp socat ncat nc git make');
const NAMES_A_PROGRAM = words(
  '-exec -execdir -ok -okdir -x -X -I -F -e -c -S --exec --exec-batch --sh-exec --to-command --rsh',
);

/** A program to run: as it was named, what the name leads to, and whether anybody but an administrator put it there. */
export type Started = { file: string; real_file: string; args: readonly string[]; is_own: boolean };

/**
 * Whether this is a shell, or leads to one: by name, by a link, by a wrapper around one, or as a script that somebody
 * wrote into the work directory. Scripts of the system and of extensions are programs like any other.
 */
export const startsAShell = ({ file, real_file, args, is_own }: Started): boolean => {
  const names = [nameOf(file), nameOf(real_file)];
  if (names.some((name) => SHELLS.has(name) || TAKES_COMMAND_LINE.has(name))) return true;
  if (names.some((name) => WRAPPERS.has(name)) && args.some(namesAShell)) return true;
  if (names.some((name) => BY_OPTION.has(name)) && args.some(optionNamesAShell)) return true;
  return is_own && interpreterOf(real_file).some((word) => SHELLS.has(nameOf(word)));
};

/** One element may hold several words (`env -S 'sh -c …'`, `--checkpoint-action=exec=sh`). */
const namesAShell = (arg: string): boolean => {
  for (const word of arg.slice(0, 65_536).split(/[\s=:;,|&()'"`]/)) if (SHELLS.has(nameOf(word))) return true;
  return false;
};

const optionNamesAShell = (arg: string, index: number, args: readonly string[]): boolean =>
  (/^(-.*=|-[a-zA-Z]o|exec:|system:)/i.test(arg) || NAMES_A_PROGRAM.has(args[index - 1] ?? '')) && namesAShell(arg);

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
