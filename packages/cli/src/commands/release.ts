import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Hold } from '@capstan/contracts';
import { actOnEach } from '../act-on-each.js';
import type { AddCommand } from '../cli.js';
import { decideMany } from '../decide-many.js';
import type { ExitCode } from '../exit-code.js';
import { formatHoldOutcome } from '../format/hold-outcome.js';
import { addHoldFilter, type HoldFilterOptions, holdFilterOf } from '../parse/hold-filter.js';
import { readInputs } from '../parse/inputs.js';
import { readStdin } from '../read-stdin.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

type Options = HoldFilterOptions & { comment?: string; inputs?: string; yes?: boolean };

export const addRelease: AddCommand = (program, cli) => {
  const command = program
    .command('release')
    .description('vote for held calls to run, by id or by filter')
    .argument('[id...]', 'hld_…')
    .option('--comment <text>', 'why; it is kept with each vote')
    .option(
      '--inputs <json>',
      'run the one that is named with these instead: JSON, @file.json, or - for stdin; policy decides on them again',
    );
  addHoldFilter(command)
    .option('-y, --yes', 'do not ask; needed by filter where there is no terminal')
    .action((ids: string[], options: Options) => cli.run(command, (session) => release(session, ids, options)));
};

const release = async (session: Session, ids: string[], options: Options): Promise<ExitCode> => {
  const { comment, inputs: changed, yes = false } = options;
  if (changed !== undefined && ids.length !== 1)
    throw new UsageError('--inputs is for one call', 'Release each call with its own inputs.');
  if (ids.length === 0) return decideMany(session, holdFilterOf(options), { decision: 'release', comment, yes });
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
