import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';

type Options = { down?: boolean; status?: boolean; to?: string };

export const addMigrate: AddCommand = (program, cli) => {
  program
    .command('migrate')
    .description('bring the database to the schema of this version')
    .option('--status', 'list the migrations, and which are applied; changes nothing')
    .option('--to <migration>', 'go up or down to this one, by its name or number')
    .option('--down', 'take the last migration back')
    .action((options: Options, command: Command) =>
      cli.serve(command, async () => {
        const { runMigrate } = await import('@capstan/standalone');
        await runMigrate(options);
      }),
    );
};
