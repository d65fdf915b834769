import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';

type Options = { down?: boolean; status?: boolean; to?: string };

export const addMigrate: AddCommand = (program, cli) => {
  program
    .command('migrate')
    .description('migrate the database to the schema of this version')
    .option('--status', 'list migrations and whether they are applied; changes nothing')
    .option('--to <migration>', 'migrate up or down to this one, by name or number')
    .option('--down', 'revert the last migration')
    .action((options: Options, command: Command) =>
      cli.serve(command, async () => {
        const { runMigrate } = await import('@capstan/standalone');
        await runMigrate(options);
      }),
    );
};
