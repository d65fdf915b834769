import { expect, test } from 'vitest';
import { startsAnother } from './starts-another.js';

test.each([
  ['git', '-c', 'alias.x=!id', 'x'],
  ['git', '-C', 'dir', '-c', 'core.pager=id', 'log'],
  ['git', 'clone', '-u', 'id', 'https://example.com/x'],
  ['git', 'clone', '--config', 'core.sshCommand=id', 'x'],
  ['git', 'fetch', '--upload-pack=id', 'x'],
  ['git', 'fetch', '--upload', 'id', 'x'],
  ['git', 'clone', 'ext::sh -c id', 'x'],
  ['tar', '--checkpoint-action=exec=id', '-cf', 'a', 'b'],
  ['tar', 'xIf', 'id', 'a.tar'],
  ['find', '.', '-exec', 'id', ';'],
  ['/usr/bin/find', '.', '-execdir', 'id', ';'],
  ['rsync', '-ave', 'id', 'a', 'b'],
  ['ssh', '-oProxyCommand=id', 'host'],
  ['ssh', '-o', 'ProxyCommand=id', 'host'],
  ['sort', '--compress-program=id', 'file'],
  ['awk', 'BEGIN { system("id") }'],
  ['awk', 'BEGIN { "id" | getline }'],
  ['timeout', '5', 'git', '-c', 'alias.x=!id', 'x'],
  ['env', 'A=1', 'nice', 'find', '.', '-ok', 'id', ';'],
])('%s %s %s: refused', (file, ...args) => {
  expect(startsAnother(file, args)).not.toBeNull();
});

test.each([
  ['git', 'log', '--oneline', '-u'],
  ['git', 'push', '-u', 'origin', 'main'],
  ['git', '-C', 'dir', 'status'],
  ['git', 'log', '-c'],
  ['git', 'diff', '--cached'],
  ['tar', '-xzf', 'a.tar.gz', '-C', 'dir'],
  ['tar', 'czf', 'a.tgz', 'dir'],
  ['find', '.', '-name', '*.ts', '-delete'],
  ['awk', '{ print $1 }', 'file'],
  ['awk', '$1 == 1 || $2 == 2', 'file'],
  ['env', 'A=1', 'printenv'],
  ['timeout', '5', 'ls'],
  ['echo', '-exec'],
])('%s %s %s: nothing to say against it', (file, ...args) => {
  expect(startsAnother(file, args)).toBeNull();
});
