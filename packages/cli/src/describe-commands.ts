import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import type { Cli } from './cli.js';
import { buildProgram } from './run-cli.js';

export type CommandDescription = {
  /** As it is called: `policy put`. */
  path: string;
  group: string;
  description: string;
  usage: string;
  arguments: { name: string; description: string }[];
  options: { flags: string; description: string }[];
};

/** Every command with its arguments and options, subcommands after their parent: for the reference of commands. */
export const describeCommands = async (): Promise<CommandDescription[]> => {
  const cli: Cli = { now: () => new Date(0), run: async () => {}, serve: async () => {} };
  const io = {
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    env: {},
    cwd: '/',
    now: () => new Date(0),
    onInterrupt: () => () => {},
  };
  const program = await buildProgram(cli, io, ['help']);
  return program.commands.flatMap((command) => describe(command, [], command.helpGroup()));
};

const describe = (command: Command, parents: string[], group: string): CommandDescription[] => {
  const path = [...parents, command.name()];
  const help = command.createHelp();
  return [
    {
      path: path.join(' '),
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
