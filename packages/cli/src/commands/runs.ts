import type { Run, RunStatus } from '@capstan/contracts';
import { type Command, Option } from 'commander';
import { actOnEach } from '../act-on-each.js';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { formatCount } from '../format/count.js';
import { relativeTime } from '../format/relative-time.js';
import { paintRun, runStatusText, statusLine } from '../format/status.js';
import { choice } from '../parse/choice.js';
import { integer } from '../parse/integer.js';
import { type Look, printTable } from '../print-items.js';
import { resolveRun } from '../resolve-id.js';
import type { Session } from '../session.js';
import { addWatch, watchTable } from '../watch-lines.js';
import { addCompareRuns } from './compare-runs.js';

const DEFAULT_LIMIT = 20;
const parseStatus = choice<RunStatus>({
  pending: true,
  running: true,
  paused: true,
  completed: true,
  failed: true,
  canceled: true,
});
const parseKind = choice<Run['kind']>({ plan: true, bulk: true, lone: true });

/** Lone invocations are runs too, but so many that they would hide the others. */
const GROUPED: Run['kind'][] = ['plan', 'bulk'];

type Options = { limit: number; status?: RunStatus; kind?: Run['kind']; name?: string; all?: boolean; watch?: boolean };

export const addRuns: AddCommand = (program, cli) => {
  const runs = addWatch(program.command('runs'))
    .alias('list-runs')
    .description('list, compare, pause and resume plans and bulk submissions')
    .option('-s, --status <status>', 'only pending, running, paused, completed, failed or canceled runs', parseStatus)
    .addOption(new Option('-k, --kind <kind>', 'only plan, bulk or lone runs').argParser(parseKind).conflicts('all'))
    .option('-a, --all', 'include lone invocations, which are runs of their own')
    .option('--name <name>', 'only of plans with this name')
    .option('-n, --limit <n>', 'maximum number of runs', integer(1, 1000), DEFAULT_LIMIT)
    .action((options: Options, command: Command) => cli.run(command, (session) => printRuns(session, options)));
  addCompareRuns(runs, cli);
  for (const action of ['pause', 'resume'] as const) {
    runs
      .command(action)
      .description(
        action === 'pause' ? 'pause plans: running steps continue, no new ones start' : 'resume paused plans',
      )
      .argument('<run_id...>', 'run ids (run_…)')
      .action((ids: string[], _options: object, command: Command) =>
        cli.run(command, async (session) => {
          const client = await session.client();
          return actOnEach(session, ids, client.runs[action], statusLine(session.out.colors), resolveRun);
        }),
      );
  }
};

const printRuns = async (
  session: Session,
  { all = false, watch = false, kind, ...query }: Options,
): Promise<ExitCode> => {
  const client = await session.client();
  const fetch = () => client.runs.list({ ...query, kind: all ? undefined : (kind ?? GROUPED) }).page();
  const look = () => lookOf(session, all || kind !== undefined);
  if (watch) return watchTable(session, async () => (await fetch()).items, look);
  const page = await fetch();
  if (session.json) {
    await session.printJson(page);
    return EXIT.success;
  }
  await printTable(session, page.items, look());
  return EXIT.success;
};

const lookOf = (session: Session, isAny: boolean): Look<Run> => {
  const { colors } = session.out;
  const count = (title: string, of: (run: Run) => number, alarming = false) => ({
    title,
    text: (run: Run) => formatCount(of(run)),
    align: 'right' as const,
    paint: (text: string, run: Run) => (of(run) === 0 ? colors.dim(text) : alarming ? colors.red(text) : text),
  });
  return {
    empty: isAny ? 'No runs match.' : 'No plans or bulk submissions match. --all includes lone invocations.',
    columns: [
      { title: 'RUN', text: ({ run_id }) => run_id },
      {
        title: 'STATUS',
        text: (run) => runStatusText(run),
        paint: (text, run) => paintRun(run, text, colors),
      },
      {
        title: 'NAME',
        text: ({ name, kind, mode }) => `${mode === 'replay' ? 'replay of ' : ''}${name ?? kind}`,
        shrinks: true,
      },
      {
        title: 'DONE',
        text: ({ completed_steps, total_steps }) => `${formatCount(completed_steps)}/${formatCount(total_steps)}`,
        align: 'right',
        drops: 4,
      },
      { ...count('DENIED', ({ denied_steps }) => denied_steps, true), drops: 2 },
      { ...count('FAILED', ({ failed_steps }) => failed_steps, true), drops: 2 },
      { title: 'ACTOR', text: ({ actor }) => actor, shrinks: 8, drops: 1 },
      { title: 'CREATED', text: ({ created_at }) => relativeTime(created_at, session.now()), drops: 3 },
    ],
  };
};
