import type { Run, RunStatus } from '@capstan/contracts';
import { type Command, Option } from 'commander';
import { actOnEach } from '../act-on-each.js';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { formatCount } from '../format/count.js';
import { relativeTime } from '../format/relative-time.js';
import { paintStatus, statusLine, statusText } from '../format/status.js';
import { choice } from '../parse/choice.js';
import { integer } from '../parse/integer.js';
import { printTable } from '../print-items.js';
import { resolveRun } from '../resolve-id.js';
import type { Session } from '../session.js';

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

/** A lone invocation is a run as well, and there are so many that they would hide the others. */
const GROUPED: Run['kind'][] = ['plan', 'bulk'];

type Options = { limit: number; status?: RunStatus; kind?: Run['kind']; name?: string; all?: boolean };

export const addRuns: AddCommand = (program, cli) => {
  const runs = program
    .command('runs')
    .alias('list-runs')
    .description('runs: plans, and what was submitted together, the newest first; pause or resume plans')
    .option('-s, --status <status>', 'pending, running, paused, completed, failed or canceled', parseStatus)
    .addOption(new Option('-k, --kind <kind>', 'plan, bulk or lone').argParser(parseKind).conflicts('all'))
    .option('-a, --all', 'lone invocations as well, each of which is a run of its own')
    .option('--name <name>', 'of the plan')
    .option('-n, --limit <n>', 'how many', integer(1, 1000), DEFAULT_LIMIT)
    .action((options: Options, command: Command) => cli.run(command, (session) => printRuns(session, options)));
  for (const action of ['pause', 'resume'] as const) {
    runs
      .command(action)
      .description(action === 'pause' ? 'start no more steps of plans; what is under way goes on' : 'go on with plans')
      .argument('<run_id...>')
      .action((ids: string[], _options: object, command: Command) =>
        cli.run(command, async (session) => {
          const client = await session.client();
          return actOnEach(session, ids, client.runs[action], statusLine(session.out.colors), resolveRun);
        }),
      );
  }
};

const printRuns = async (session: Session, { all = false, kind, ...query }: Options): Promise<ExitCode> => {
  const client = await session.client();
  const page = await client.runs.list({ ...query, kind: all ? undefined : (kind ?? GROUPED) }).page();
  if (session.json) {
    await session.printJson(page);
    return EXIT.success;
  }
  const { colors } = session.out;
  const count = (title: string, of: (run: Run) => number, alarming = false) => ({
    title,
    text: (run: Run) => formatCount(of(run)),
    align: 'right' as const,
    paint: (text: string, run: Run) => (of(run) === 0 ? colors.dim(text) : alarming ? colors.red(text) : text),
  });
  await printTable(session, page.items, {
    empty: all || kind ? 'No run matches.' : 'No plan or bulk matches; --all shows lone invocations as well.',
    columns: [
      { title: 'RUN', text: ({ run_id }) => run_id },
      {
        title: 'STATUS',
        text: ({ status }) => statusText(status),
        paint: (text, { status }) => paintStatus(status, text, colors),
      },
      { title: 'NAME', text: ({ name, kind }) => name ?? kind, shrinks: true },
      count('TOTAL', ({ total_steps }) => total_steps),
      count('DONE', ({ completed_steps }) => completed_steps),
      count('DENIED', ({ denied_steps }) => denied_steps, true),
      count('FAILED', ({ failed_steps }) => failed_steps, true),
      { title: 'ACTOR', text: ({ actor }) => actor },
      { title: 'CREATED', text: ({ created_at }) => relativeTime(created_at, session.now()) },
    ],
  });
  return EXIT.success;
};
