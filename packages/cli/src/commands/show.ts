import type { Step } from '@capstan/contracts';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { formatCount } from '../format/count.js';
import { formatFields } from '../format/fields.js';
import { formatInvocation } from '../format/invocation.js';
import { invocationColumns } from '../format/invocation-columns.js';
import { absoluteTime } from '../format/relative-time.js';
import { paintRun, paintStatus, runStatusText, statusText } from '../format/status.js';
import { printTable } from '../print-items.js';
import { resolveRun } from '../resolve-id.js';
import { nameOfStep } from '../run/name-of-step.js';
import { timeOf } from '../run/render-tree.js';
import type { Session } from '../session.js';
import { printHold } from './holds.js';

const SHOWN_STEPS = 20;
const SHOWN_PLAN_STEPS = 200;
/** On a narrow terminal, reasons say more than the ids of the invocations. */
const REASON_WIDTH = 30;

export const addShow: AddCommand = (program, cli) => {
  program
    .command('show')
    .alias('show-run')
    .description('show an invocation, a run or a hold in full')
    .argument('<id>', 'inv_…, run_… or hld_…, or the name of a plan that ran once')
    .option('-f, --follow', 'follow a run until it ends')
    .action((given: string, { follow = false }: { follow?: boolean }, command: Command) =>
      cli.run(command, async (session) => {
        const id = await resolveRun(session, given);
        if (id.startsWith('hld_')) return printHold(session, id);
        if (!id.startsWith('run_')) return showInvocation(session, id);
        return follow
          ? (await import('../run/follow-run.js')).followRun(session, id, { outputs: false })
          : showRun(session, id);
      }),
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
      ['waits', run.held_steps > 0 ? `for a person: capstan holds --run ${run.run_id}` : null],
      [
        'replay of',
        run.replay_of && (run.mode === 'replay' ? `${run.replay_of}; nothing was executed` : run.replay_of),
      ],
      ['name', run.name],
      ['reason', run.reason],
      ['actor', run.actor],
      ['total', formatCount(run.total_steps)],
      ['completed', formatCount(run.completed_steps)],
      ['denied', formatCount(run.denied_steps)],
      ['failed', formatCount(run.failed_steps)],
      ['canceled', run.canceled_steps ? formatCount(run.canceled_steps) : null],
      ['held', run.held_steps ? formatCount(run.held_steps) : null],
      ['skipped', run.skipped_steps ? formatCount(run.skipped_steps) : null],
      ['plan hash', run.plan_hash && out.colors.dim(run.plan_hash)],
      ['policy hash', run.policy_hash && out.colors.dim(run.policy_hash)],
      ['created', absoluteTime(run.created_at, session.now())],
      ['finished', run.finished_at === null ? null : absoluteTime(run.finished_at, session.now())],
    ],
    out,
  );
  await out.line(
    [`${paintRun(run, runStatusText(run), out.colors)}  ${out.colors.bold(run.run_id)}`, ...fields, ''].join('\n'),
  );
  if (run.kind === 'plan') return showSteps(session, run_id);
  const page = await client.list({ run_id, limit: SHOWN_STEPS }).page();
  await printTable(session, page.items, {
    empty: 'The run has no invocations.',
    columns: invocationColumns(out.colors, session.now()),
  });
  if (page.next_cursor !== null) {
    await session.err.line(session.err.colors.dim(`More: capstan list --run ${run_id} --cursor ${page.next_cursor}`));
  }
  return EXIT.success;
};

const showSteps = async (session: Session, run_id: string): Promise<ExitCode> => {
  const client = await session.client();
  const page = await client.runs.steps(run_id, { limit: SHOWN_PLAN_STEPS }).page();
  const { colors } = session.out;
  await printTable<Step>(session, page.items, {
    empty: 'The run has no steps.',
    columns: [
      { title: 'STEP', text: nameOfStep },
      {
        title: 'STATUS',
        text: ({ status }) => statusText(status),
        paint: (text, { status }) => paintStatus(status, text, colors),
      },
      { title: 'TOOL', text: ({ tool_id }) => tool_id, shrinks: true, tail: true },
      { title: 'TOOK', text: (step) => timeOf(step, session.now().getTime()) || '-', align: 'right' },
      {
        title: 'INVOCATION',
        text: ({ invocation_id }) => invocation_id ?? '-',
        paint: (text) => colors.dim(text),
        drops: 1,
      },
      { title: 'REASON', text: ({ reason }) => reason ?? '', shrinks: REASON_WIDTH },
    ],
  });
  if (page.next_cursor !== null)
    await session.err.line(
      session.err.colors.dim(`More: capstan list --run ${run_id}, or GET /v1/runs/${run_id}/steps`),
    );
  return EXIT.success;
};
