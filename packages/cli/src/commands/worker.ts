import type { QueueName } from '@capstan/contracts';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { integer } from '../parse/integer.js';
import { parseWorkerRunners } from '../parse/words.js';

type Options = { runner: QueueName[]; concurrency?: number };

const MAX_CONCURRENCY = 10_000;

export const addWorker: AddCommand = (program, cli) => {
  program
    .command('worker')
    .description('start a worker (needs DATABASE_URL)')
    .requiredOption('-r, --runner <types>', 'runner types to serve (comma-separated or repeated)', parseWorkerRunners)
    .option('-c, --concurrency <n>', 'how many invocations to run at once', integer(1, MAX_CONCURRENCY))
    .action(({ runner, concurrency }: Options, command: Command) =>
      cli.serve(command, async () => {
        const { runWorker } = await import('@capstan/worker');
        await runWorker({ runners: runner, ...(concurrency === undefined ? {} : { concurrency }) });
      }),
    );
};
