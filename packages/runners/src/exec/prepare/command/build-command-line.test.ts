import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import type { JsonObject } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import type { AtipBinding, CommandBinding } from './argument-text.js';
import { buildCommandLine } from './build-command-line.js';

const run = promisify(execFile);

const command = (over: Partial<CommandBinding>): CommandBinding => ({
  kind: 'command',
  extension_id: 'text.tools',
  tools_hash: null,
  executable: 'printf',
  action: 'show',
  argv: null,
  output: 'text',
  env: [],
  permissions: [],
  ...over,
});
const option = (name: string, flags: string[], type = 'string', variadic = false) => ({ name, flags, type, variadic });
const atip = (over: Partial<AtipBinding>): AtipBinding => ({
  kind: 'atip',
  executable: 'gh',
  path: ['pr', 'create'],
  parameters: [],
  ...over,
});
const argsOf = (binding: CommandBinding | AtipBinding, inputs: JsonObject) => {
  const built = buildCommandLine(binding, inputs);
  return 'error' in built ? `refused: ${built.error}` : built.args;
};

const corpus = new URL(
  '../../../../../../../shared/corpora/command-injection/command-execution-unix.txt',
  import.meta.url,
);
const lines = existsSync(corpus) ? readFileSync(corpus, 'utf8').split('\n').filter(Boolean) : [];

describe.skipIf(lines.length === 0)(
  'a command injection of the corpus (skipped where the corpora are not there)',
  () => {
    test.each(lines)('%j stays one argument', (line) => {
      expect(argsOf(command({ argv: ['%s\\n', '{{text}}'] }), { text: line })).toContain(line);
      expect(argsOf(command({}), { args: [line], flags: { name: line } })).toEqual(
        line.startsWith('-') ? ['show', `--name=${line}`, '--', line] : ['show', '--name', line, line],
      );
      expect(argsOf(atip({ parameters: [option('q', [])] }), { q: line })).toContain(line);
      expect(argsOf(command({ argv: ['%s\\n', '{{...all}}'] }), { all: [line, line] })).toHaveLength(
        line.startsWith('-') ? 4 : 3,
      );
    });

    test('reaches the process unchanged, and starts nothing', async () => {
      const built = buildCommandLine(command({ argv: ['%s\\0', '{{...all}}'] }), { all: lines });
      if ('error' in built) throw new Error(built.error);
      const { stdout } = await run(built.file, built.args);
      expect(stdout.split('\0').slice(0, -1)).toEqual(lines);
    });
  },
);

describe('a template', () => {
  test.each<[string[], JsonObject, string[] | string]>([
    [['-w', '--', '{{file}}'], { file: 'a b' }, ['-w', '--', 'a b']],
    [['-w', '--', '{{file}}'], { file: '-rf' }, ['-w', '--', '-rf']],
    [['{{pattern}}', '{{...files}}'], { pattern: 'x', files: ['a', 'b'] }, ['x', 'a', 'b']],
    [['{{pattern}}', '{{...files}}'], { pattern: '-x', files: ['a'] }, ['--', '-x', 'a']],
    [['{{a}}', 'literal'], { a: '-x' }, 'refused: "-x" begins with "-" and could be taken for an option of printf'],
    [['-n', '{{n}}'], { n: -5 }, ['-n', '-5']],
    [['-n', '{{n}}'], { n: '-5' }, 'refused: "-5" begins with "-" and could be taken for an option of printf'],
    [['--lines={{n}}'], { n: '-5' }, ['--lines=-5']],
    [['--lines={{n}}', '{{file}}'], { file: 'a' }, ['a']],
    [['--header', '{{header}}', '--', '{{url}}'], { url: 'u' }, ['--', 'u']],
    [['-s', '--', '{{url}}'], {}, ['-s', '--']],
    [['{{a}}:{{b}}'], { a: 1, b: true }, ['1:true']],
    [['{{a}}'], { a: { b: [1] } }, ['{"b":[1]}']],
    [['{{a}}'], { a: '$(id) `id` {{b}}', b: 'no' }, ['$(id) `id` {{b}}']],
    [['{{constructor}}'], {}, []],
    [['{{a}}'], { a: '-' }, ['-']],
    [['{{...a}}'], { a: [] }, []],
    [['{{a}}'], { a: 'nul\0' }, 'refused: an argument holds a NUL byte, which no argument of a process can'],
  ])('%j with %j gives %j', (argv, inputs, expected) => {
    expect(argsOf(command({ argv }), inputs)).toEqual(expected);
  });

  test('fills standard input with any text', () => {
    const built = (inputs: JsonObject) => buildCommandLine(command({ argv: ['-w'], stdin: '{{text}}' }), inputs);
    expect(built({ text: '-x\0 $(id)' })).toMatchObject({ file: 'printf', args: ['-w'], stdin: '-x\0 $(id)' });
    expect(built({})).toMatchObject({ stdin: undefined });
  });

  test('refuses an argument that is too long for any process', () => {
    expect(argsOf(command({ argv: ['{{a}}'] }), { a: 'x'.repeat(131_071) })).toHaveLength(1);
    expect(argsOf(command({ argv: ['{{a}}'] }), { a: 'x'.repeat(131_072) })).toMatch(/pass such a text through stdin/);
  });
});

describe('arguments as typed', () => {
  test.each<[JsonObject, string[] | string]>([
    [{ args: ['https://x'] }, ['show', 'https://x']],
    [
      { args: ['a b'], flags: { env: 'dev', v: true, q: false, n: 3 } },
      ['show', '--env', 'dev', '-v', '-n', '3', 'a b'],
    ],
    [{ flags: { tag: ['a', 'b'] } }, ['show', '--tag', 'a', '--tag', 'b']],
    [{ args: ['--help'] }, ['show', '--', '--help']],
    [{ flags: { env: '--x' } }, ['show', '--env=--x']],
    [{ flags: { e: '--x' } }, 'refused: the value of -e begins with "-" and could be taken for an option'],
    [{ flags: { 'a b': 1 } }, 'refused: "a b" is not the name of a flag'],
    [
      { flags: { '--n': 3, '-name': 'a*', '--env=': 'dev', '-o=': '-x' } },
      ['show', '--n', '3', '-name', 'a*', '--env=dev', '-o=-x'],
    ],
    [{ flags: { '-name': '-x' } }, 'refused: the value of -name begins with "-" and could be taken for an option'],
    [{ flags: { '---x': 1 } }, 'refused: "---x" is not the name of a flag'],
    [{ flags: { 'x=y': 1 } }, 'refused: "x=y" is not the name of a flag'],
    [{ args: 'x' }, 'refused: args must be a list'],
  ])('%j', (inputs, expected) => {
    expect(argsOf(command({}), inputs)).toEqual(expected);
  });
});

describe('an ATIP command', () => {
  const parameters = [
    option('number', [], 'integer'),
    option('files', [], 'file', true),
    option('title', ['--title', '-t']),
    option('draft', ['--draft'], 'boolean'),
    option('label', ['--label'], 'string', true),
    option('short', ['-s']),
  ];
  test.each<[JsonObject, string[] | string]>([
    [{}, ['pr', 'create']],
    [{ title: 'a; rm -rf /', draft: true }, ['pr', 'create', '--title', 'a; rm -rf /', '--draft']],
    [{ draft: false }, ['pr', 'create']],
    [{ label: ['a', 'b'] }, ['pr', 'create', '--label', 'a', '--label', 'b']],
    [{ files: ['x', 'y'], number: 7 }, ['pr', 'create', '7', 'x', 'y']],
    [{ files: ['--exec'], number: 7 }, ['pr', 'create', '--', '7', '--exec']],
    [{ title: '--fill' }, ['pr', 'create', '--title=--fill']],
    [{ short: '-x' }, 'refused: the value of short begins with "-" and could be taken for an option'],
    [{ unknown: 'x' }, ['pr', 'create']],
  ])('with %j', (inputs, expected) => {
    expect(argsOf(atip({ parameters }), inputs)).toEqual(expected);
  });

  test('is only its executable if it is the root', () => {
    expect(buildCommandLine(atip({ path: [] }), {})).toMatchObject({ file: 'gh', args: [], stdin: undefined });
  });
});

test.each<[Partial<CommandBinding>, string, number]>([
  [{ argv: null }, 'caller', 1],
  [{ argv: ['-w', '{{file}}'] }, 'author', 0],
  [{ argv: ['log', '{{ref}}'] }, 'author', 1],
  [{ argv: ['-c', 'print(1)', '{{x}}'] }, 'author', 2],
  [{ argv: ['-w'], stdin: '{{text}}' }, 'author', 1],
  [{ argv: ['-w'] }, 'nobody', 1],
])('of %j the arguments are chosen by %s, after %i of the author', (over, chosen_by, literal) => {
  expect(buildCommandLine(command(over), { file: 'f', ref: 'r', x: 'x', text: 't' })).toMatchObject({
    chosen_by,
    literal,
  });
});
