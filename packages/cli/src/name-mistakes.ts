import type { Command } from 'commander';

/**
 * Names mistakes that commander would report as something else: a subcommand that does not exist as an argument too many, and a misspelled option as
 * the required one that is missing.
 */
export const nameMistakes = (program: Command, args: readonly string[]): void => {
  const { command, word } = follow(program, args);
  const { commands, registeredArguments } = command;
  if (command !== program && word !== undefined && commands.length > 0 && registeredArguments.length === 0)
    command.error(
      `error: there is no \`${pathOf(command)} ${word}\`; it has ${commands.map((sub) => sub.name()).join(', ')}`,
    );
  // Otherwise commander prints the help of all commands.
  if (command === program && word !== undefined && word !== 'help' && args.includes('--help'))
    command.error(`error: there is no \`${pathOf(command)} ${word}\``);
  const known = new Set(['--help', ...[command, program].flatMap(({ options }) => options.map(({ long }) => long))]);
  const isMisspelled = args.some((arg) => arg.startsWith('--') && arg !== '--' && !known.has(arg.split('=')[0]));
  // Commander then complains about the unknown option first, and suggests the nearest.
  if (isMisspelled) for (const option of command.options) option.mandatory = false;
};

/** The command that the arguments name, and the first word after it that may be a subcommand. */
const follow = (program: Command, args: readonly string[]): { command: Command; word: string | undefined } => {
  let command = program;
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    const global = program.options.find(({ long, short }) => arg === long || arg === short);
    if (global?.required) at += 1;
    if (global || (arg.includes('=') && arg.startsWith('--'))) continue;
    // What follows an option may be its value.
    if (arg.startsWith('-')) break;
    const sub = command.commands.find((each) => each.name() === arg || each.aliases().includes(arg));
    if (sub === undefined) return { command, word: arg };
    command = sub;
  }
  return { command, word: undefined };
};

const pathOf = (command: Command): string =>
  command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
