import { actOnEach } from '../act-on-each.js';
import type { AddCommand } from '../cli.js';
import { decideMany } from '../decide-many.js';
import { formatHoldOutcome } from '../format/hold-outcome.js';
import { addHoldFilter, type HoldFilterOptions, holdFilterOf } from '../parse/hold-filter.js';

type Options = HoldFilterOptions & { comment: string; yes?: boolean };

export const addReject: AddCommand = (program, cli) => {
  const command = program
    .command('reject')
    .description('reject held calls, by id or by filter')
    .argument('[id...]', 'hold ids (hld_…)')
    .requiredOption('--comment <text>', 'reason, recorded with each hold');
  addHoldFilter(command)
    .option('-y, --yes', 'do not ask; required for filters without a terminal')
    .action((ids: string[], options: Options) =>
      cli.run(command, async (session) => {
        const { comment, yes = false } = options;
        if (ids.length === 0) return decideMany(session, holdFilterOf(options), { decision: 'reject', comment, yes });
        const { holds } = await session.client();
        const { colors } = session.out;
        return actOnEach(
          session,
          ids,
          (id) => holds.reject(id, comment),
          (hold) => formatHoldOutcome(hold, colors),
        );
      }),
    );
};
