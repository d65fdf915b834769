import type { Hold } from '@capstan/contracts';
import { actOnEach } from '../act-on-each.js';
import type { AddCommand } from '../cli.js';
import { decideMany } from '../decide-many.js';
import type { ExitCode } from '../exit-code.js';
import { formatHoldOutcome } from '../format/hold-outcome.js';
import { addHoldFilter, type HoldFilterOptions, holdFilterOf } from '../parse/hold-filter.js';
import { readJsonInputs } from '../read-tool-inputs.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

type Options = HoldFilterOptions & { comment?: string; inputs?: string; yes?: boolean };

export const addRelease: AddCommand = (program, cli) => {
  const command = program
    .command('release')
    .description('approve held calls, by id or by filter')
    .argument('[id...]', 'hold ids (hld_…)')
    .option('--comment <text>', 'reason, recorded with each vote')
    .option('--inputs <json>', 'change the inputs of one call: JSON, @file.json, or - for stdin; policy decides again');
  addHoldFilter(command)
    .option('-y, --yes', 'do not ask; required for filters without a terminal')
    .action((ids: string[], options: Options) => cli.run(command, (session) => release(session, ids, options)));
};

const release = async (session: Session, ids: string[], options: Options): Promise<ExitCode> => {
  const { comment, inputs: changed, yes = false } = options;
  if (changed !== undefined && ids.length !== 1)
    throw new UsageError('--inputs needs exactly one hold id', 'Release each call with its own inputs.');
  if (ids.length === 0) return decideMany(session, holdFilterOf(options), { decision: 'release', comment, yes });
  const { holds } = await session.client();
  const inputs = changed === undefined ? undefined : await readJsonInputs(session, changed);
  const releaseOne = async (id: string): Promise<Hold> => {
    // The hash makes the gateway refuse the vote if somebody changes the inputs in the meantime.
    const { input_hash } = await holds.get(id);
    return holds.release(id, { comment, inputs, input_hash });
  };
  const { colors } = session.out;
  return actOnEach(session, ids, releaseOne, (hold) => formatHoldOutcome(hold, colors));
};
