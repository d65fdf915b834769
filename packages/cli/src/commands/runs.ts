import type { Run } from '@capstan/contracts';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { formatCount } from '../format/count.js';
import { relativeTime } from '../format/relative-time.js';
import { paintStatus, statusText } from '../format/status.js';
import { integer } from '../parse/integer.js';
import { printTable } from '../print-items.js';
import type { Session } from '../session.js';

const DEFAULT_LIMIT = 20;

export const addRuns: AddCommand = (program, cli) => {
  program
    .command('runs')
    .description('runs: what was submitted together, the newest first')
    .option('-n, --limit <n>', 'how many', integer(1, 1000), DEFAULT_LIMIT)
    .action(({ limit }: { limit: number }, command: Command) =>
      cli.run(command, (session) => printRuns(session, limit)),
    );
};

const printRuns = async (session: Session, limit: number): Promise<ExitCode> => {
  const client = await session.client();
  const page = await client.runs.list({ limit }).page();
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
    empty: 'There is no run yet.',
    columns: [
      { title: 'RUN', text: ({ run_id }) => run_id },
      {
        title: 'STATUS',
        text: ({ status }) => statusText(status),
        paint: (text, { status }) => paintStatus(status, text, colors),
      },
      count('TOTAL', ({ total_steps }) => total_steps),
      count('DONE', ({ completed_steps }) => completed_steps),
      count('DENIED', ({ denied_steps }) => denied_steps, true),
      count('FAILED', ({ failed_steps }) => failed_steps, true),
      { title: 'ACTOR', text: ({ actor }) => actor, shrinks: true },
      { title: 'CREATED', text: ({ created_at }) => relativeTime(created_at, session.now()) },
    ],
  });
  return EXIT.success;
};
