import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';

export const addUp: AddCommand = (program, cli) => {
  program
    .command('up')
    .description('start everything on this machine, with an embedded Postgres')
    .addHelpText(
      'after',
      `
Settings are environment variables, or lines of capstan.yaml. \`capstan config --all\` lists them.

Examples:
  $ CAPSTAN_PORT=8080 capstan up
  $ DATABASE_URL=postgres://localhost/capstan capstan up      # your own Postgres
  $ REDIS_URL=redis://127.0.0.1:6379 capstan up               # the queue in Redis`,
    )
    .action((_options: object, command: Command) =>
      cli.serve(command, async () => {
        const { runStandalone } = await import('@capstan/standalone');
        await runStandalone();
      }),
    );
};
