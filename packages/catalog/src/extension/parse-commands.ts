import { CommandsFile, type SlashCommand } from './commands-file.js';

/** The commands of an extension that was checked when it was installed; none when they are no longer readable. */
export const parseCommands = (commands: unknown): SlashCommand[] =>
  CommandsFile.safeParse(commands).data?.slash_commands ?? [];
