import { createReadStream, existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ReplayAnswer, StepDifference } from '@capstan/contracts';
import { visibleLine } from '@capstan/contracts/visible-text';
import { type Command, Option } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { countOf } from '../format/count.js';
import { wrapProse } from '../format/width.js';
import { printTable } from '../print-items.js';
import { resolveId } from '../resolve-id.js';
import { followRun } from '../run/follow-run.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

type Options = { planHash?: string; reExecute?: boolean; from?: string };

export const addReplay: AddCommand = (program, cli) => {
  program
    .command('replay')
    .description('replay a run or a bundle from its stored results')
    .argument('<run|file>', 'run_…, inv_…, or a bundle file')
    .option('--plan-hash <hash>', 'fail unless the run has this plan hash')
    .addOption(
      new Option('--from <step>', 'execute this step and those that depend on it; reuse the other results').conflicts(
        'reExecute',
      ),
    )
    .option('--re-execute', 'run calls without side effects again, hold the rest, and compare outputs')
    .action((what: string, { planHash, reExecute, from }: Options, command: Command) =>
      cli.run(command, async (session) => {
        const { records } = await session.client();
        const file = !/^(run|inv)_[\w-]+$/.test(what);
        const taken = file ? await replayFile(session, what) : null;
        const run_id = taken?.run_id ?? (await resolveId(session, what)).replace(/^inv_/, 'run_');
        const request = { plan_hash: planHash };
        if (reExecute) return reExecuteRun(session, run_id, planHash);
        if (from !== undefined) return followFrom(session, await records.replay(run_id, { ...request, from }));
        return print(session, taken ?? (await records.replay(run_id, request)));
      }),
    );
};

/** Streamed, because a bundle may be larger than memory. */
const replayFile = async (session: Session, file: string): Promise<ReplayAnswer> => {
  const { records } = await session.client();
  const path = resolve(session.cwd, file);
  if (!existsSync(path)) throw new UsageError(`${file} is neither a run id nor a file`);
  const { bundle_id } = await records.importBundle(createReadStream(path));
  return records.replayBundle(bundle_id);
};

const followFrom = async (session: Session, answer: ReplayAnswer): Promise<ExitCode> => {
  const { err } = session;
  const { run_id, replay_of, reused_steps = 0, total_steps } = answer;
  await err.line(
    err.colors.dim(`${run_id} continues ${replay_of}: ${reused_steps} of ${countOf(total_steps, 'result')} reused`),
  );
  return followRun(session, run_id, { outputs: true });
};

const print = async (session: Session, answer: ReplayAnswer): Promise<ExitCode> => {
  if (session.json) await session.printJson(answer);
  else
    await session.out.line(
      wrapProse(
        `${answer.run_id} replays ${answer.replay_of}: ${countOf(answer.total_steps, 'step')}, nothing was executed`,
        2,
        session.out,
      ),
    );
  return EXIT.success;
};

const WAIT_S = 600;

/** Waits for the calls that run. Held calls are not waited for and count as not executed. */
const reExecuteRun = async (session: Session, run_id: string, plan_hash: string | undefined): Promise<ExitCode> => {
  const client = await session.client();
  const again = await client.records.replay(run_id, { plan_hash, re_execute: true });
  for await (const { invocation_id, status } of client.list({ run_id: again.run_id }))
    if (status === 'queued' || status === 'running' || status === 'deferred')
      await client.wait(invocation_id, { timeout_s: WAIT_S, signal: session.signal });
  const items: StepDifference[] = [];
  for await (const item of client.records.differences(again.run_id, { limit: 1000 })) items.push(item);
  if (session.json) await session.printJson({ ...again, items });
  else await printDifferences(session, items);
  return items.some(({ outcome }) => outcome === 'differs') ? EXIT.failed : EXIT.success;
};

const printDifferences = async (session: Session, items: StepDifference[]): Promise<void> => {
  const first = ({ differences: [one] }: StepDifference): string =>
    one ? `${one.path || '/'}: ${JSON.stringify(one.recorded)} → ${JSON.stringify(one.now)}` : '';
  await printTable<StepDifference>(session, items, {
    empty: 'No calls were executed again.',
    columns: [
      { title: 'INVOCATION', text: ({ recorded_invocation_id }) => recorded_invocation_id },
      { title: 'TOOL', text: ({ tool_id }) => tool_id },
      { title: 'NOW', text: ({ status }) => status },
      { title: 'OUTPUT', text: ({ outcome }) => outcome.replace('_', ' ') },
      { title: 'DIFFERENCE', text: (one) => visibleLine(first(one)), shrinks: true },
    ],
  });
};
