import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type CommandDescription, describeCommands } from '../../packages/cli/dist/describe-commands.js';
import { findRepository } from '../fixtures/find-repository.js';
import { snippetsOf } from './snippets-of.js';

const repository = fileURLToPath(findRepository());
const pages = execFileSync('git', ['ls-files', '*.md'], { cwd: repository, encoding: 'utf8' }).trim().split('\n');

/** `capstan …` at the start of a line, after a prompt, or as `npx capstan …`; with its continued lines, without comments. */
const commandLines = (text: string): string[] =>
  text
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .flatMap((line) => line.split(/ {2,}(?=capstan )|\| |&& |\$\((?=(?:npx )?capstan )/))
    .map((line) => /^\s*(?:\$ )?(?:[A-Z_]+=\S* )*(?:npx )?capstan (?<rest>.*)$/.exec(line)?.groups?.rest ?? '')
    .filter((rest) => /^(?!help )[a-z]/.test(rest))
    .map((rest) => rest.replace(/\s#.*$/, '').replace(/ -- .*$/, ''));

const GLOBAL = ['--help', '--url', '--key', '--profile', '--json', '--raw', '--no-color'];

/** What is wrong with a command line: a command or an option that does not exist. Null if nothing is. */
function mistakeIn(line: string, commands: readonly CommandDescription[]): string | null {
  const words = line.split(/\s+/);
  const paths = commands.flatMap(({ path, aliases }) => [path, ...aliases]);
  const path = [words.slice(0, 2).join(' '), words[0] ?? ''].find((each) => paths.includes(each));
  if (path === undefined) return `there is no command ${words[0]}`;
  const command = commands.find((each) => each.path === path || each.aliases.includes(path));
  const subcommands = commands.filter((each) => each.path.startsWith(`${path} `));
  if (subcommands.length > 0 && command?.arguments.length === 0 && /^[a-z]+$/.test(words[1] ?? ''))
    return `there is no command ${path} ${words[1]}`;
  const known = [...GLOBAL, ...(command?.options ?? []).flatMap(({ flags }) => flags.match(/--?[a-z][a-z-]*/g) ?? [])];
  const unquoted = line.replaceAll(/'[^']*'|"[^"]*"/g, '""');
  const options = unquoted.match(/(?<=\s)--?[a-z][a-z-]*/g) ?? [];
  const unknown = options.find((option) => !known.includes(option) && !known.includes(`--no-${option.slice(2)}`));
  return unknown === undefined ? null : `capstan ${path} has no option ${unknown}`;
}

test('every capstan command in the documentation exists, with its options', async () => {
  const commands = await describeCommands();
  const lines = pages.flatMap((page) => {
    const text = readFileSync(join(repository, page), 'utf8');
    const fences = snippetsOf(text).filter(({ language }) => ['sh', 'text', 'console'].includes(language));
    const spans = [...text.matchAll(/`((?:npx )?capstan [^`\n]+)`/g)].map(([, span = '']) => span.replaceAll('\\', ''));
    return [...fences.map((fence) => fence.text), ...spans].flatMap(commandLines).map((line) => ({ page, line }));
  });
  expect(lines.length).toBeGreaterThan(100);
  const mistakes = lines.flatMap(({ page, line }) => mistakeIn(line, commands)?.concat(` (${page}: ${line})`) ?? []);
  expect(mistakes).toEqual([]);
  expect(mistakeIn('holds --sorted expires_at', commands)).toBe('capstan holds has no option --sorted');
  expect(mistakeIn('queues scales exec', commands)).toBe('there is no command queues scales');
});
