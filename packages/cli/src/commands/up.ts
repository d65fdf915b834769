import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';

export const addUp: AddCommand = (program, cli) => {
  program
    .command('up')
    .description('start everything on this machine, with an embedded Postgres')
    .action((_options: object, command: Command) =>
      cli.serve(command, async () => {
        const { runStandalone } = await import('@capstan/standalone');
        await runStandalone();
      }),
    );
};
