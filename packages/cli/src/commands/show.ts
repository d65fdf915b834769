import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { formatCount } from '../format/count.js';
import { formatFields } from '../format/fields.js';
import { formatInvocation } from '../format/invocation.js';
import { invocationColumns } from '../format/invocation-columns.js';
import { absoluteTime } from '../format/relative-time.js';
import { formatStatus } from '../format/status.js';
import { printTable } from '../print-items.js';
import type { Session } from '../session.js';

const SHOWN_STEPS = 20;

export const addShow: AddCommand = (program, cli) => {
  program
    .command('show')
    .description('everything about an invocation or a run')
    .argument('<id>', 'inv_… or run_…')
    .action((id: string, _options: object, command: Command) =>
      cli.run(command, (session) => (id.startsWith('run_') ? showRun(session, id) : showInvocation(session, id))),
    );
};

const showInvocation = async (session: Session, invocation_id: string): Promise<ExitCode> => {
  const client = await session.client();
  const invocation = await client.get(invocation_id);
  if (session.json) await session.printJson(invocation);
  else await session.out.line(formatInvocation(invocation, session.out, session.now()).join('\n'));
  return EXIT.success;
};

const showRun = async (session: Session, run_id: string): Promise<ExitCode> => {
  const client = await session.client();
  const run = await client.runs.get(run_id);
  if (session.json) {
    await session.printJson(run);
    return EXIT.success;
  }
  const { out } = session;
  const fields = formatFields(
    [
      ['kind', run.kind],
      ['actor', run.actor],
      ['total', formatCount(run.total_steps)],
      ['completed', formatCount(run.completed_steps)],
      ['denied', formatCount(run.denied_steps)],
      ['failed', formatCount(run.failed_steps)],
      ['created', absoluteTime(run.created_at, session.now())],
      ['finished', run.finished_at === null ? null : absoluteTime(run.finished_at, session.now())],
    ],
    out.colors,
  );
  await out.line([`${formatStatus(run.status, out.colors)}  ${out.colors.bold(run.run_id)}`, ...fields, ''].join('\n'));
  const page = await client.list({ run_id, limit: SHOWN_STEPS }).page();
  await printTable(session, page.items, {
    empty: 'It has no invocations.',
    columns: invocationColumns(out.colors, session.now()),
  });
  if (page.next_cursor !== null) {
    await session.err.line(session.err.colors.dim(`more: capstan list --run ${run_id} --cursor ${page.next_cursor}`));
  }
  return EXIT.success;
};
