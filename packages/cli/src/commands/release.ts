import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Hold } from '@capstan/contracts';
import type { Command } from 'commander';
import { actOnEach } from '../act-on-each.js';
import type { AddCommand } from '../cli.js';
import type { ExitCode } from '../exit-code.js';
import { formatHoldOutcome } from '../format/hold-outcome.js';
import { readInputs } from '../parse/inputs.js';
import { readStdin } from '../read-stdin.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

type Options = { comment?: string; inputs?: string };

export const addRelease: AddCommand = (program, cli) => {
  program
    .command('release')
    .description('vote for held calls to run')
    .argument('<id...>', 'hld_…')
    .option('--comment <text>', 'why; it is kept with each vote')
    .option(
      '--inputs <json>',
      'run the one that is named with these instead: JSON, @file.json, or - for stdin; policy decides on them again',
    )
    .action((ids: string[], options: Options, command: Command) =>
      cli.run(command, (session) => release(session, ids, options)),
    );
};

const release = async (session: Session, ids: string[], { comment, inputs: changed }: Options): Promise<ExitCode> => {
  if (changed !== undefined && ids.length > 1)
    throw new UsageError('--inputs is for one call', 'Release each call with its own inputs.');
  const { holds } = await session.client();
  const inputs =
    changed === undefined
      ? undefined
      : await readInputs(changed, {
          readStdin: () => readStdin(session),
          readFile: (path) => readFile(resolve(session.cwd, path), 'utf8'),
        });
  const releaseOne = async (id: string): Promise<Hold> => {
    // What is released is what is there now: should somebody change the inputs at this moment, it is refused.
    const { input_hash } = await holds.get(id);
    return holds.release(id, { comment, inputs, input_hash });
  };
  const { colors } = session.out;
  return actOnEach(session, ids, releaseOne, (hold) => formatHoldOutcome(hold, colors));
};
