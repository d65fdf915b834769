import type { Command } from 'commander';

export type CommandDescription = {
  /** As it is called: `policy put`. */
  path: string;
  aliases: string[];
  group: string;
  description: string;
  usage: string;
  arguments: { name: string; description: string }[];
  options: { flags: string; description: string }[];
};

/** Every command with its arguments and options, subcommands after their parent. */
export const describeProgram = (program: Command): CommandDescription[] =>
  program.commands.flatMap((command) => describe(command, [], command.helpGroup()));

const describe = (command: Command, parents: string[], group: string): CommandDescription[] => {
  const path = [...parents, command.name()];
  const help = command.createHelp();
  return [
    {
      path: path.join(' '),
      aliases: command.aliases(),
      group,
      description: command.description(),
      usage: `capstan ${path.join(' ')} ${command.usage()}`,
      arguments: help.visibleArguments(command).map((each) => ({
        name: each.name(),
        description: help.argumentDescription(each),
      })),
      options: help
        .visibleOptions(command)
        .filter((option) => option.long !== '--help')
        .map((option) => ({ flags: option.flags, description: help.optionDescription(option) })),
    },
    ...help
      .visibleCommands(command)
      .filter((sub) => sub.name() !== 'help')
      .flatMap((sub) => describe(sub, path, group)),
  ];
};
