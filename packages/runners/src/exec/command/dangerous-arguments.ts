/** Options with which a program runs another, reads a configuration, or writes where it likes. */
const DANGEROUS: Record<string, { long?: string[]; short?: string; words?: string[]; values?: RegExp }> = {
  git: {
    long: [
      'upload-pack',
      'receive-pack',
      'exec',
      'exec-path',
      'config',
      'config-env',
      'ext-diff',
      'textconv',
      'open-files-in-pager',
      'template',
      'git-dir',
      'work-tree',
      'output',
    ],
    short: 'cuO',
    // Transports that are command lines.
    values: /^(ext|fd)::/i,
  },
  ssh: { short: 'oFIDLRJEWw', values: /^-?o?(ProxyCommand|LocalCommand|PermitLocalCommand|KnownHostsCommand)/i },
  scp: { short: 'oFSiJ' },
  sftp: { short: 'oFSbDiJ' },
  rsync: { long: ['rsh', 'rsync-path', 'config', 'password-file', 'files-from', 'log-file'], short: 'e' },
  tar: {
    long: [
      'checkpoint-action',
      'to-command',
      'use-compress-program',
      'rsh-command',
      'rmt-command',
      'info-script',
      'new-volume-script',
      'absolute-names',
      'files-from',
      'directory',
    ],
    short: 'IFPTC',
  },
  zip: { long: ['unzip-command'], short: 'T', words: ['-TT'] },
  find: {
    words: ['-exec', '-execdir', '-ok', '-okdir', '-delete', '-fprint', '-fprint0', '-fprintf', '-fls', '-files0-from'],
  },
  fd: { long: ['exec', 'exec-batch'], short: 'xX' },
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
  sort: { long: ['compress-program', 'output', 'files0-from', 'temporary-directory'], short: 'oT' },
  split: { long: ['filter'] },
  man: { long: ['pager', 'html', 'preprocessor', 'config-file'], short: 'PHpC' },
  less: { short: 'okK' },
  env: { long: ['split-string', 'chdir'], short: 'SC' },
  gcc: { long: ['specs', 'plugin'], words: ['-wrapper', '-fplugin'], short: 'B' },
  nmap: { long: ['script', 'script-args', 'resume', 'datadir'], words: ['-oN', '-oX', '-oG', '-oA', '-iL'] },
  tcpdump: { short: 'zwrF' },
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

/** Programs for which `--` does not end the options, or whose arguments are code. */
const WITHOUT_DOUBLE_DASH: ReadonlySet<string> = new Set([
  'find',
  'dd',
  'test',
  '[',
  'expr',
  'ffmpeg',
  'java',
  'gcc',
  'openssl',
  'ip',
]);

export const honoursDoubleDash = (executable: string): boolean => !WITHOUT_DOUBLE_DASH.has(executable);

/** Why one of the arguments must not be a caller's choice; null when none is. `literals` are the tool's own. */
export function refuseDangerous(
  executable: string,
  args: readonly string[],
  literals: ReadonlySet<string>,
): string | null {
  const rules = Object.hasOwn(DANGEROUS, executable) ? DANGEROUS[executable] : undefined;
  if (!rules) return null;
  const end = args.indexOf('--');
  for (const [at, arg] of args.entries()) {
    if (literals.has(arg) || [...literals].some((literal) => isFilled(literal, arg))) continue;
    const isOption = arg.startsWith('-') && (end < 0 || at < end || !honoursDoubleDash(executable));
    const bad =
      (isOption && (isLong(arg, rules.long) || isShort(arg, rules.short) || rules.words?.includes(arg))) ||
      rules.values?.test(arg);
    if (bad)
      return `${JSON.stringify(arg.slice(0, 60))} is not passed to ${executable}: it can make it do something else`;
  }
  return null;
}

/** `--max-time={{seconds}}` is the tool's own option with a caller's value. */
const isFilled = (literal: string, arg: string): boolean => {
  const open = literal.indexOf('{{');
  return open > 2 && literal.startsWith('-') && arg.startsWith(literal.slice(0, open));
};

/** An unambiguous beginning of a long option is that option to getopt. */
function isLong(arg: string, names: readonly string[] = []): boolean {
  if (!arg.startsWith('--')) return false;
  const name = arg.slice(2).split('=', 1)[0] ?? '';
  return (
    name !== '' && names.some((dangerous) => dangerous === name || (name.length > 2 && dangerous.startsWith(name)))
  );
}

/** Short options may stand together: `-xvI` has an I. */
function isShort(arg: string, letters = ''): boolean {
  if (arg.startsWith('--') || arg.length < 2) return false;
  return [...arg.slice(1)].some((letter) => letters.includes(letter));
}
