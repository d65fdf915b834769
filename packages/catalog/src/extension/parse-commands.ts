import { CommandsFile, type SlashCommand } from './commands-file.js';

/** The commands of an installed extension. Empty if they can no longer be parsed. */
export const parseCommands = (commands: unknown): SlashCommand[] =>
  CommandsFile.safeParse(commands).data?.slash_commands ?? [];
