import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT } from '../exit-code.js';
import { readVersion } from '../version.js';

export const addVersion: AddCommand = (program, cli) => {
  program
    .command('version')
    .description('print the version')
    .action((_options: object, command: Command) =>
      cli.run(command, async (session) => {
        const version = readVersion();
        if (session.json) await session.printJson({ version });
        else await session.out.line(version);
        return EXIT.success;
      }),
    );
};
