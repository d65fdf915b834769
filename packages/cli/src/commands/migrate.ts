import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';

export const addMigrate: AddCommand = (program, cli) => {
  program
    .command('migrate')
    .description('bring the database to the schema of this version')
    .option('--down', 'take the last migration back')
    .action(({ down = false }: { down?: boolean }, command: Command) =>
      cli.serve(command, async () => {
        const { runMigrate } = await import('@capstan/standalone');
        await runMigrate({ down });
      }),
    );
};
