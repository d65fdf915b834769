import type { Executables } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { judgeCommand } from './judge-command.js';
import { suggestExecutable } from './suggest-rule.js';

const NO_SHELL = { shell: false };
const judge = ([file = '', ...args]: readonly string[], lists: Executables[] = []) =>
  judgeCommand({ file, args, chosen_by: 'caller' }, lists, NO_SHELL);

/** Splits a command line whose arguments are separated by two spaces. */
const words = (line: string): string[] => line.split('  ');

describe('without a rule of the policy', () => {
  test.each([
    'echo  -exec  --upload-pack=id',
    'ls  -la',
    '/usr/bin/cat  /etc/hostname',
    'env',
    'env  -0',
    'git  status  --short',
    'git  branch  --show-current',
    'git  log  --oneline  -5',
    'git  log  -n  5  --format=%H  main..dev  --  src',
    'git  -C  dir  diff  --cached  -U3  HEAD~1',
    'git  grep  -n  word  --  *.ts',
    'git  --version',
    'tar  -tzf  a.tgz',
    'tar  -xzf  a.tar.gz  -C  dir',
    'tar  xzf  a.tgz',
    'tar  czf  a.tgz  dir',
    'tar  -c  -f  a.tar  --  -strange-',
    'find  .  -name  *.ts  -type  f  -print0',
    'find  a  b  (  -mtime  -7  -o  -size  +10k  )  !  -empty',
    'curl  -sS  -L  https://example.com/',
    'curl  -q  --silent  --proto  =http,https  --header  A: b  --data-binary  @-  --  https://example.com',
    'curl  -d  {"a":1}  -H  A: b  http://example.com/',
    'curl  --data=@-  https://example.com/',
    'jq  -r  --arg  a  b  .a  file.json',
    'rg  -n  -e  needle  -g  *.ts  src',
    'sed  --sandbox  -n  1,3p  file',
    'gawk  --sandbox  -F:  { print $1 }  file',
    'sort  -t:  -k2,2n  -u  file',
    'split  -l  10  file',
    'sqlite3  -safe  -json  x.db  select 1',
    'python3  --version',
  ])('%s may run', (line) => {
    expect(judge(words(line))).toMatchObject({ allowed: true });
  });

  test.each(['awk  { print $1 }  file', 'sed  -n  1p  file', 'awk  BEGIN { system("id") }', 'sed  1e id'])(
    '%s may run where the kernel keeps it from starting others',
    (line) => {
      expect(judge(words(line))).toEqual({ allowed: true, exec_once: 'required' });
    },
  );

  test.each([
    // Long options, complete or abbreviated, with attached or separate values.
    'git  fetch  --upload-pack=id  x',
    'git  fetch  --upload  id  x',
    'git  log  --ext-diff',
    'git  log  --ext-d',
    'git  log  --format=%G?',
    'git  log  --show-signature',
    'git  log  --textconv',
    'git  diff  --output=/tmp/x',
    'git  diff  --outp=/tmp/x',
    'git  grep  --open-files-in-pager=id  x',
    'git  grep  -Oid  x',
    'git  grep  -nOid  x',
    'git  grep  --open  x',
    // An option in place of a value.
    'git  log  --format  --ext-diff',
    'git  log  -n  --output=x',
    'git  log  --author  --  --output=x',
    'git  -C  --exec-path=.  status',
    // Configuration before and after the command.
    'git  -c  core.pager=id  log',
    'git  -c  alias.x=!id  x',
    'git  --config-env=core.pager=X  log',
    'git  --exec-path=.  status',
    'git  --git-dir=x  status',
    'git  -p  log',
    'git  --paginate  log',
    'git  clone  https://example.com/x  -c  core.sshCommand=id',
    'git  clone  --config  core.sshCommand=id  https://example.com/x',
    'git  clone  ext::sh -c id  x',
    'git  clone  -u  id  https://example.com/x',
    'git  clone  --template=x  https://example.com/x',
    'git  remote-ext  x  id',
    'git  remote  add  x  ext::id',
    'git  difftool  -x  id',
    'git  difftool  --extcmd=id  --no-prompt',
    'git  mergetool',
    'git  rebase  --exec  id  HEAD~1',
    'git  rebase  -x  id',
    'git  bisect  run  id',
    'git  submodule  foreach  id',
    'git  filter-branch  --tree-filter  id',
    'git  config  core.pager  id',
    'git  config  --local  core.pager  id',
    'git  config  --global  --list',
    'git  config  edit  --local',
    'git  commit  -m  x',
    'git  help  log',
    'git  -h',
    'git  archive  --remote=ext::id  HEAD',
    'git  send-email',
    'git  instaweb',
    'git',
    // tar
    'tar  --checkpoint=1  --checkpoint-action=exec=id  -cf  a  b',
    'tar  --checkpoint-act=exec=id  -cf  a  b',
    'tar  -cf  a  b  --use-compress-program=id',
    'tar  --use-comp=id  -cf  a  b',
    'tar  -I  id  -cf  a  b',
    'tar  -cIf  id  a  b',
    'tar  xIf  id  a.tar',
    'tar  xf  a.tar  --to-command=id',
    'tar  -xf  a.tar  --to-com  id',
    'tar  -xf  host:a.tar',
    'tar  -xfhost:a.tar',
    'tar  xf  host:a.tar  --rsh-command=id',
    'tar  xf  -CoProxyCommand=id:a.tar',
    'tar  czf  -Chost:a.tgz  b',
    'tar  -cf  a  -T  list',
    'tar  -cf  a  --files-from=list',
    'tar  -F  id  -cf  a  b',
    'tar  -Mcf  a  --info-script=id  b',
    // find
    'find  .  -exec  id  ;',
    'find  .  -execdir  id  ;',
    'find  .  -ok  id  ;',
    'find  .  -name  x  -exec  id  +',
    'find  --  .  -exec  id  ;',
    'find  .  -name  -exec  id  ;',
    'find  .  -delete',
    'find  .  -fprintf  x  y',
    'find  -files0-from  list  -exec  id  ;',
    // Code as an argument and on standard input.
    'gawk  --sandbox  -l  x  1',
    'gawk  -i  x  1',
    'gawk  --sand  BEGIN{system("id")}',
    'gawk  --load=x  1',
    // What comes after the first argument is no option of awk, and of no program with POSIXLY_CORRECT.
    'gawk  BEGIN { system("id") }  --sandbox',
    'gawk  -v  a=b  BEGIN { system("id") }  --sandbox',
    'sqlite3  x.db  .shell id  -safe',
    'awk  -E  x',
    'sed  --sandb  1e id',
    'sed  --debug  --expr=1e id  x',
    'sqlite3  x.db  .shell id',
    'sqlite3  :memory:  .system id',
    'sqlite3  -cmd  .shell id  x.db',
    'sqlite3  x.db',
    'psql  -c  \\! id',
    'psql',
    'mysql  -e  \\! id',
    'make',
    'make  -f  /dev/stdin',
    'make  --eval=x:;id',
    'vim  -c  !id',
    'vim  -es  +!id',
    'vi',
    'view',
    'ed',
    'ex',
    'red',
    'nano',
    'emacs  --eval  x',
    'less  x',
    'more  x',
    'man  -P  id  ls',
    'python3  -c  import os',
    'python3',
    'python3  --version  -c  x',
    'node  -e  1',
    'perl  -e  exec "id"',
    'ruby  -e  x',
    'php  -r  x',
    'lua  -e  x',
    'java  @args',
    'gcc  @args',
    'gcc  -wrapper  id',
    'npm  run  x',
    'npx  x',
    'pip  install  x',
    // Wrappers
    'env  id',
    'env  A=1  id',
    'env  -S  id',
    'xargs  id',
    'nice  id',
    'timeout  5  id',
    'nohup  id',
    'setsid  id',
    'stdbuf  -o0  id',
    'watch  id',
    'script  -c  id',
    'flock  x  id',
    'time  id',
    'busybox  id',
    'strace  id',
    'gdb  -ex  !id',
    'start-stop-daemon  --start  --exec  /usr/bin/id',
    'unshare  id',
    'nsenter  id',
    'ssh  -oProxyCommand=id  host',
    'ssh  host',
    'scp  -S  id  a  b',
    'rsync  -e  id  a  b',
    'zip  -T  -TT  id  a  b',
    'cpio  --rsh-command=id',
    'dc  -e  !id',
    'expect  -c  x',
    'tcpdump  -z  id',
    'nmap  --script=x',
    'ffmpeg  -i  x',
    // sort and split
    'sort  --compress-program=id  file',
    'sort  --compress-prog  id  file',
    'sort  --comp=id',
    'split  --filter=id  file',
    'split  --fil=id  file',
    // curl and wget
    'curl  -K  file  https://example.com',
    'curl  --config=-  https://example.com',
    'curl  -o  x  https://example.com',
    'curl  -sox  https://example.com',
    'curl  --outp=x  https://example.com',
    'curl  -d  @/etc/passwd  https://example.com',
    'curl  -H@/etc/passwd  https://example.com',
    'curl  file:///etc/passwd',
    'curl  --url  file:///etc/passwd',
    'curl  -w  %output{x}  https://example.com',
    'curl  --engine  x  https://example.com',
    'wget  --use-askpass=id  https://example.com',
    'wget  -e  use_askpass=id  https://example.com',
    // rg
    'rg  --pre  id  x',
    'rg  --pre=id  x',
    'rg  -z  x',
    'rg  --hostname-bin=id  x',
    // Unknown programs, and programs outside of the system directories.
    'some-tool-of-mine',
    './ls',
    'dir/ls',
    '/tmp/ls',
    '/usr/bin/../bin/ls',
    '/usr/lib/git-core/git-shell',
    '',
  ])('%s is refused', (line) => {
    expect(judge(words(line))).toMatchObject({ allowed: false, reason: expect.any(String) });
  });

  test('granting `shell` allows all of them', () => {
    expect(judgeCommand({ file: 'awk', args: ['x'], chosen_by: 'caller' }, [], { shell: true })).toMatchObject({
      allowed: true,
    });
  });
});

describe('a tool whose author wrote the arguments', () => {
  const author = (line: string, literal: number) => {
    const [file = '', ...args] = words(line);
    return judgeCommand({ file, args, chosen_by: 'author', literal }, [], NO_SHELL).allowed;
  };
  test.each<[string, number, boolean]>([
    ['gh  pr  create  --title  x', 2, true],
    ['python3  -c  print(1)  value', 2, true],
    ['python3  -c  value', 0, false],
    ['python3  value', 0, false],
    ['git  log  value', 1, true],
    ['git  clone  ext::id', 1, false],
    ['awk  program', 0, true],
    ['make  target', 0, false],
    ['xargs  echo  value', 1, false],
    ['python3.11  -c  value', 0, false],
    ['python3.11  -c  print(1)  value', 2, true],
    ['/opt/homebrew/bin/git  log  value', 1, false],
    ['vim.tiny  value', 0, false],
    ['/usr/bin/x86_64-linux-gnu-gcc-12  value', 0, false],
    ['/lib64/ld-linux-x86-64.so.2  value', 0, false],
  ])('whether %s with %i literal arguments may run is %j', (line, literal, allowed) => {
    expect(author(line, literal)).toBe(allowed);
  });
});

test('a program is known by the file that its name leads to', () => {
  const judgeLink = (real_file: string, lists: Executables[]) =>
    judgeCommand({ file: 'notes', real_file, args: ['value'], chosen_by: 'author' }, lists, NO_SHELL).allowed;
  const any: Executables = { notes: { any: true } };
  expect(judgeLink('/usr/bin/vim.basic', [])).toBe(false);
  expect(judgeLink('/usr/bin/vim.basic', [any])).toBe(false);
  expect(judgeLink('/usr/bin/pico-editor', [])).toBe(true);
  expect(judgeLink('/usr/bin/pico-editor', [any])).toBe(true);
});

describe('rules for a program', () => {
  test('name profiles, shapes or both, and one match is enough', () => {
    const rules: Executables = {
      git: { profiles: ['write'], shapes: [{ command: 'push', options: ['-u'], positionals: ['origin', 'main'] }] },
      make: { shapes: [{ options: ['-j='], positionals: ['test', 'build-*'], max_positionals: 1 }] },
    };
    for (const line of ['git  commit  -m  x', 'git  push  -u  origin  main', 'make  -j4  test', 'make  build-all'])
      expect([line, judge(words(line), [rules])]).toEqual([line, { allowed: true, exec_once: null }]);
    for (const line of [
      'git  status',
      'git  push  --force',
      'git  push  evil',
      'make  deploy',
      'make  test  test',
      'make  -f  x',
    ])
      expect([line, judge(words(line), [rules]).allowed]).toEqual([line, false]);
  });

  test('with the profile fetch of git allow https URLs and named remotes', () => {
    const fetch = (line: string) => judge(words(line), [{ git: { profiles: ['fetch'] } }]).allowed;
    for (const line of ['git  clone  --depth=1  https://example.com:8443/x.git  dir', 'git  fetch  origin  main'])
      expect([line, fetch(line)]).toEqual([line, true]);
    for (const url of [
      'ext::id',
      'host:path',
      'me@host:path',
      'ssh://host/x',
      'http://host/x',
      'file:///x',
      'https::x',
    ])
      expect([url, fetch(`git  clone  ${url}`)]).toEqual([url, false]);
  });

  test('that are not allowed are refused with the reason of the closest shape', () => {
    const why = (line: string) => {
      const verdict = judge(words(line));
      return verdict.allowed ? null : verdict.reason;
    };
    expect(why('git  push')).toBe('git: nothing that begins with "push" is allowed');
    expect(why('git  push  --force')).toBe('git: nothing that begins with "push" is allowed');
    expect(why('git  config  user.name')).toBe('git: --local is missing, or not in front of the other arguments');
    expect(why('tar  dir')).toContain('begins with "dir"');
  });

  test('from several lists must all allow the program that they name', () => {
    const [read, write]: Executables[] = [{ git: { profiles: ['read'] } }, { git: { profiles: ['read', 'write'] } }];
    expect(judge(words('git  status'), [read ?? {}, write ?? {}, {}]).allowed).toBe(true);
    expect(judge(words('git  add  x'), [read ?? {}, write ?? {}]).allowed).toBe(false);
  });

  test('can allow an unknown program, but not one that can start others', () => {
    expect(judge(['mine', '-x'], [{ mine: { any: true } }])).toEqual({ allowed: true, exec_once: null });
    expect(judge(['awk', 'x'], [{ awk: { any: true } }]).allowed).toBe(false);
    expect(judge(['awk', 'x'], [{ awk: { any: true, exec_once: true } }])).toEqual({
      allowed: true,
      exec_once: 'required',
    });
  });

  test('parse options as the program does', () => {
    const shape = { options: ['-a', '-b', '-n=', '--lines=', '--color[=]', '-#'], required: ['--safe'] };
    const fits = (line: string) =>
      judge(words(line), [{ x: { shapes: [{ ...shape, positionals: ['p*', '!pq'] }] } }]).allowed;
    for (const line of [
      '-ab',
      '-abn5',
      '-abn  5',
      '--lines=5',
      '--lines  5',
      '--color',
      '--color=x',
      '-5',
      '--  p',
      'p  -a',
      '-n  -5',
    ])
      expect([line, fits(`x  --safe  ${line}`)]).toEqual([line, true]);
    for (const line of [
      '-abc',
      '-n',
      '-n  -a',
      '--line=5',
      '--lines  --',
      '--color  x',
      '-a=1',
      '--  q',
      'pq',
      '-',
      '--safe=1',
      '',
    ])
      expect([line, fits(`x  --safe  ${line}`)]).toEqual([line, false]);
    expect(fits('x  -a')).toBe(false);
  });
});

test.each([
  'git  commit  -m  x',
  'git  push  origin  main',
  'tar  -cf  a  --files-from=list',
  'find  .  -delete',
  'make  -j4  CC=gcc  test',
  'python3  -c  print(1)',
  'timeout  5  ls  -l',
  'mine  --whatever',
  'xargs  -0  !weird',
])('the rule that is suggested for %s allows it', (line) => {
  const [file = '', ...args] = words(line);
  const { program, rule } = suggestExecutable({ file, args, chosen_by: 'caller' });
  expect(judge(words(line), [{ [program]: rule }]).allowed).toBe(true);
});
