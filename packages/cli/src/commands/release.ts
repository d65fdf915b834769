import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { formatHoldOutcome } from '../format/hold-outcome.js';
import { readInputs } from '../parse/inputs.js';
import { readStdin } from '../read-stdin.js';
import type { Session } from '../session.js';

type Options = { comment?: string; inputs?: string };

export const addRelease: AddCommand = (program, cli) => {
  program
    .command('release')
    .description('vote for a held call to run')
    .argument('<id>', 'hld_…')
    .option('--comment <text>', 'why; it is kept with the vote')
    .option(
      '--inputs <json>',
      'run it with these instead: JSON, @file.json, or - for stdin; policy decides on them again',
    )
    .action((id: string, options: Options, command: Command) =>
      cli.run(command, (session) => release(session, id, options)),
    );
};

const release = async (session: Session, id: string, { comment, inputs: changed }: Options): Promise<ExitCode> => {
  const client = await session.client();
  const inputs =
    changed === undefined
      ? undefined
      : await readInputs(changed, {
          readStdin: () => readStdin(session),
          readFile: (path) => readFile(resolve(session.cwd, path), 'utf8'),
        });
  // What is released is what is shown: should somebody change the inputs at this moment, it is refused.
  const { input_hash } = await client.holds.get(id);
  const hold = await client.holds.release(id, { comment, inputs, input_hash });
  if (session.json) await session.printJson(hold);
  else await session.out.line(formatHoldOutcome(hold, session.out.colors));
  return EXIT.success;
};
