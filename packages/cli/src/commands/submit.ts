import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { parseDuration } from '../parse/duration.js';

type Options = { wait?: boolean; waitLimit?: number };

export const addSubmit: AddCommand = (program, cli) => {
  program
    .command('submit')
    .description('submit many invocations from a file')
    .argument('<file>', 'JSON lines or a JSON array of {"tool_id": "…", "inputs": {…}}; - for stdin')
    .option('-w, --wait', 'wait for all and print their results as JSON lines, in file order')
    .option('--wait-limit <time>', 'stop waiting after this time; the invocations continue', parseDuration)
    .addHelpText(
      'after',
      `
Examples:
  $ capstan submit work.jsonl
  $ generate-work | capstan submit - --wait > results.jsonl`,
    )
    .action((file: string, { wait = false, waitLimit }: Options, command: Command) =>
      cli.run(command, async (session) => {
        const { submitFile } = await import('../submit/submit-file.js');
        return submitFile(session, file, { wait: wait || waitLimit !== undefined, limit_ms: waitLimit });
      }),
    );
};
