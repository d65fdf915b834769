import type { Command, Help } from 'commander';
import type { Output } from '../output.js';

/** The help of `capstan` itself: its commands by task, the global options and two examples. */
export const renderHelp = (program: Command, { colors }: Output): string => {
  const groups = new Map<string, Command[]>();
  for (const command of program.commands) {
    const heading = command.helpGroup();
    groups.set(heading, [...(groups.get(heading) ?? []), command]);
  }
  const width = Math.max(...program.commands.map((command) => command.name().length));
  const options = program.options.filter(({ long }) => long !== '--version');
  const optionWidth = Math.max(...options.map(({ flags }) => flags.length));
  return [
    `${colors.bold('capstan')}  ${program.description()}`,
    '',
    `${colors.bold('Usage')}  capstan <command> [options]`,
    '',
    ...[...groups].flatMap(([heading, commands]) => [
      colors.bold(heading),
      ...commands.map((each) => `  ${colors.cyan(each.name().padEnd(width))}  ${summaryOf(each)}`),
      '',
    ]),
    colors.bold('Global options'),
    ...options.map(({ flags, description }) => `  ${flags.padEnd(optionWidth)}  ${description}`),
    '',
    colors.bold('Examples'),
    `  ${colors.dim('$')} capstan up`,
    `  ${colors.dim('$')} capstan invoke cap:test_math:add '{"a": 2, "b": 3}'`,
    '',
    colors.dim('Run `capstan <command> --help` for the options of a command.'),
    colors.dim('Exit codes: 0 success, 1 failed, 2 usage, 3 denied, 4 held, 5 timed out.'),
    '',
  ].join('\n');
};

const summaryOf = (command: Command): string => capitalize(command.summary() || command.description());

/** Descriptions are written as fragments, because the reference page turns them into sentences. */
const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The help of one command. Unlike commander's own, it has the subcommands first and the global options last. */
export const formatCommandHelp = (command: Command, help: Help): string => {
  const width = help.padWidth(command, help);
  const section = (title: string, items: readonly (readonly [term: string, description: string])[]): string[] =>
    help.formatItemList(
      title,
      items.map(([term, description]) => help.formatItem(term, width, description, help)),
      help,
    );
  return [
    `${help.styleTitle('Usage:')} ${help.commandUsage(command)}`,
    '',
    help.boxWrap(capitalize(help.commandDescription(command)), help.helpWidth ?? 80),
    '',
    ...section(
      'Commands:',
      help
        .visibleCommands(command)
        .filter((each) => each.name() !== 'help')
        .map((each) => [help.subcommandTerm(each), summaryOf(each)]),
    ),
    ...section(
      'Arguments:',
      help.visibleArguments(command).map((each) => [help.argumentTerm(each), help.argumentDescription(each)]),
    ),
    ...section(
      'Options:',
      help.visibleOptions(command).map((each) => [help.optionTerm(each), help.optionDescription(each)]),
    ),
    ...section(
      'Global options:',
      help
        .visibleGlobalOptions(command)
        .filter(({ long }) => long !== '--version')
        .map((each) => [help.optionTerm(each), help.optionDescription(each)]),
    ),
  ].join('\n');
};
