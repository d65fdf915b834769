import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';

export const addGateway: AddCommand = (program, cli) => {
  program
    .command('gateway')
    .description('start a gateway (needs DATABASE_URL)')
    .action((_options: object, command: Command) =>
      cli.serve(command, async () => {
        const { runGateway } = await import('@capstan/gateway');
        await runGateway();
      }),
    );
};
