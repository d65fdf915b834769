import { basename } from 'node:path';
import { type ArgumentRule, findArgument } from './command/argument-rule.js';
import { WRAPPERS } from './starts-a-shell.js';

const SSH_COMMAND = /^-?o?\s*(ProxyCommand|LocalCommand|PermitLocalCommand|KnownHostsCommand)/i;
const AWK: ArgumentRule = { values: /\bsystem\s*\(|\|\s*"|\|\s*getline|"\s*\|/ };

/** What makes a program start another one. Not all that could be dangerous about its arguments: who calls chooses them all. */
export const STARTS_ANOTHER = {
  git: {
    long: [
      'upload-pack',
      'receive-pack',
      'exec',
      'exec-path',
      'config-env',
      'ext-diff',
      'open-files-in-pager',
      'template',
    ],
    values: /^(ext|fd)::/i,
  },
  ssh: { values: SSH_COMMAND },
  scp: { short: 'S', values: SSH_COMMAND },
  sftp: { short: 'S', values: SSH_COMMAND },
  rsync: { long: ['rsh', 'rsync-path'], short: 'e' },
  tar: {
    long: [
      'checkpoint-action',
      'to-command',
      'use-compress-program',
      'rsh-command',
      'rmt-command',
      'info-script',
      'new-volume-script',
    ],
    short: 'IF',
  },
  zip: { long: ['unzip-command'], words: ['-TT'] },
  find: { words: ['-exec', '-execdir', '-ok', '-okdir'] },
  fd: { long: ['exec', 'exec-batch'], short: 'xX' },
  sort: { long: ['compress-program'] },
  split: { long: ['filter'] },
  man: { long: ['pager', 'html', 'preprocessor'], short: 'PHp' },
  gcc: { long: ['specs', 'plugin'], words: ['-wrapper', '-fplugin'], short: 'B' },
  tcpdump: { short: 'z' },
  awk: AWK,
  gawk: AWK,
  mawk: AWK,
  nawk: AWK,
} as const satisfies Record<string, ArgumentRule>;
const RULES: Readonly<Record<string, ArgumentRule>> = STARTS_ANOTHER;

/** The argument with which this command line makes a program start another one, itself or behind a wrapper; null when there is none. */
export const startsAnother = (file: string, args: readonly string[]): string | null => {
  const name = basename(file);
  if (WRAPPERS.has(name)) {
    const at = args.findIndex((arg) => Object.hasOwn(RULES, basename(arg)) || WRAPPERS.has(basename(arg)));
    return at < 0 ? null : startsAnother(args[at] ?? '', args.slice(at + 1));
  }
  const rule = Object.hasOwn(RULES, name) ? RULES[name] : undefined;
  if (!rule) return null;
  if (name === 'git' && setsConfiguration(args)) return '-c';
  // The first word of tar may be its options without a dash.
  const given = name === 'tar' && args[0] && /^[A-Za-z]+$/.test(args[0]) ? [`-${args[0]}`, ...args.slice(1)] : args;
  return findArgument(rule, name, given) ?? null;
};

/** An alias, a pager or a transport is a command line. As an option of git itself, or of a clone, `-c` sets one. */
const setsConfiguration = (args: readonly string[]): boolean => {
  const command = args.findIndex((arg, at) => !arg.startsWith('-') && !TAKES_VALUE.has(args[at - 1] ?? ''));
  const own = command < 0 ? args : args.slice(0, command);
  if (own.includes('-c')) return true;
  return REMOTE.has(args[command] ?? '') && args.slice(command).some((arg) => /^-[uc]|^--config\b/.test(arg));
};
const TAKES_VALUE: ReadonlySet<string> = new Set(['-C', '-c', '--git-dir', '--work-tree', '--namespace']);
/** With these `-u` names the program on the other side. */
const REMOTE: ReadonlySet<string> = new Set(['clone', 'ls-remote', 'fetch-pack', 'submodule']);
