import type { Command } from 'commander';
import type { Output } from '../output.js';

/** What `capstan` alone says: its commands by task, and two lines that work. */
export const renderHelp = (program: Command, { colors }: Output): string => {
  const groups = new Map<string, Command[]>();
  for (const command of program.commands) {
    const heading = command.helpGroup();
    groups.set(heading, [...(groups.get(heading) ?? []), command]);
  }
  const width = Math.max(...program.commands.map((command) => command.name().length));
  const options = program.options.filter(({ long }) => long !== '--version').map(({ flags }) => flags);
  return [
    `${colors.bold('capstan')}  ${program.description()}`,
    '',
    ...[...groups].flatMap(([heading, commands]) => [
      colors.bold(heading),
      ...commands.map((each) => `  ${colors.cyan(each.name().padEnd(width))}  ${each.summary() || each.description()}`),
      '',
    ]),
    `${colors.bold('With every command')}  ${options.join('  ')}`,
    '',
    colors.bold('Examples'),
    `  ${colors.dim('$')} capstan up`,
    `  ${colors.dim('$')} capstan invoke cap:test_math:add '{"a": 2, "b": 3}'`,
    '',
    colors.dim('capstan help <command> says more. Exit: 0 success, 1 failed, 2 usage, 3 denied, 4 held, 5 timed out.'),
    '',
  ].join('\n');
};
