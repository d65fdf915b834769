import { STARTS_ANOTHER } from '../starts-another.js';
import { type ArgumentRule, both, findArgument } from './argument-rule.js';

/** Options with which a program runs another, reads a configuration, or writes where it likes. */
const DANGEROUS: Readonly<Record<string, ArgumentRule>> = {
  git: both(STARTS_ANOTHER.git, { long: ['config', 'textconv', 'git-dir', 'work-tree', 'output'], short: 'cuO' }),
  ssh: both(STARTS_ANOTHER.ssh, { short: 'oFIDLRJEWw' }),
  scp: both(STARTS_ANOTHER.scp, { short: 'oFiJ' }),
  sftp: both(STARTS_ANOTHER.sftp, { short: 'oFbDiJ' }),
  rsync: both(STARTS_ANOTHER.rsync, { long: ['config', 'password-file', 'files-from', 'log-file'] }),
  tar: both(STARTS_ANOTHER.tar, { long: ['absolute-names', 'files-from', 'directory'], short: 'PTC' }),
  zip: both(STARTS_ANOTHER.zip, { short: 'T' }),
  find: both(STARTS_ANOTHER.find, { words: ['-delete', '-fprint', '-fprint0', '-fprintf', '-fls', '-files0-from'] }),
  fd: STARTS_ANOTHER.fd,
  xargs: { short: 'aI' },
  curl: {
    long: [
      'config',
      'output',
      'output-dir',
      'upload-file',
      'form',
      'data',
      'data-ascii',
      'data-binary',
      'data-urlencode',
      'json',
      'cookie-jar',
      'cookie',
      'dump-header',
      'trace',
      'trace-ascii',
      'stderr',
      'netrc-file',
      'unix-socket',
      'abstract-unix-socket',
      'proto',
      'proto-redir',
      'engine',
      'cert',
      'key',
      'libcurl',
      'proxy',
      'preproxy',
      'resolve',
      'connect-to',
      'remote-name',
      'remote-header-name',
    ],
    short: 'KoTFdcbDExOJ',
    // The content of a local file instead of the value; another scheme than the web's.
    values: /^(@|(?!https?:)[a-z][a-z0-9+.-]*:\/\/)/i,
  },
  wget: {
    long: [
      'use-askpass',
      'post-file',
      'body-file',
      'output-document',
      'output-file',
      'append-output',
      'input-file',
      'config',
      'execute',
      'directory-prefix',
      'load-cookies',
      'save-cookies',
    ],
    short: 'OoaieP',
  },
  sort: both(STARTS_ANOTHER.sort, { long: ['output', 'files0-from', 'temporary-directory'], short: 'oT' }),
  split: STARTS_ANOTHER.split,
  man: both(STARTS_ANOTHER.man, { long: ['config-file'], short: 'C' }),
  less: { short: 'okK' },
  env: { long: ['split-string', 'chdir'], short: 'SC' },
  gcc: STARTS_ANOTHER.gcc,
  nmap: { long: ['script', 'script-args', 'resume', 'datadir'], words: ['-oN', '-oX', '-oG', '-oA', '-iL'] },
  tcpdump: both(STARTS_ANOTHER.tcpdump, { short: 'wrF' }),
  ffmpeg: {
    words: ['-filter_script', '-filter_complex_script', '-safe'],
    values: /^(concat|file|subfile|crypto|data):/i,
  },
  npm: { long: ['script-shell', 'userconfig', 'globalconfig', 'prefix', 'call'], short: 'c' },
  pip: {
    long: ['target', 'prefix', 'root', 'index-url', 'extra-index-url', 'config-settings', 'global-option'],
    short: 'ti',
  },
  docker: {
    long: ['privileged', 'volume', 'mount', 'pid', 'cap-add', 'security-opt', 'device', 'config', 'host'],
    short: 'vH',
  },
  kubectl: { long: ['kubeconfig', 'server', 'token'], short: 's' },
  psql: { long: ['command', 'file', 'output', 'log-file'], short: 'cfoL' },
  mysql: { long: ['execute', 'tee', 'pager', 'defaults-file', 'init-command'], short: 'e' },
  sqlite3: { words: ['-cmd', '-init'] },
};

/** Why one of the arguments must not be a caller's choice; null when none is. `literals` are the tool's own. */
export function refuseDangerous(
  executable: string,
  args: readonly string[],
  literals: ReadonlySet<string>,
): string | null {
  const rules = Object.hasOwn(DANGEROUS, executable) ? DANGEROUS[executable] : undefined;
  if (!rules) return null;
  const isOwn = (arg: string) => literals.has(arg) || [...literals].some((literal) => isFilled(literal, arg));
  const bad = findArgument(rules, executable, args, isOwn);
  return bad === undefined
    ? null
    : `${JSON.stringify(bad.slice(0, 60))} is not passed to ${executable}: it can make it do something else`;
}

/** `--max-time={{seconds}}` is the tool's own option with a caller's value. */
const isFilled = (literal: string, arg: string): boolean => {
  const open = literal.indexOf('{{');
  return open > 2 && literal.startsWith('-') && arg.startsWith(literal.slice(0, open));
};
