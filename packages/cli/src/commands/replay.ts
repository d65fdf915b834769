import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ReplayAnswer, StepDifference } from '@capstan/contracts';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { countOf } from '../format/count.js';
import { printable } from '../format/printable.js';
import { printTable } from '../print-items.js';
import type { Session } from '../session.js';

type Options = { planHash?: string; reExecute?: boolean };

export const addReplay: AddCommand = (program, cli) => {
  program
    .command('replay')
    .description('a new run with the stored results of another, or of a bundle; nothing is executed')
    .argument('<run|file>', 'run_…, inv_…, or the file of a bundle')
    .option('--plan-hash <hash>', 'only if the run is of this plan')
    .option('--re-execute', 'run again what changes nothing, hold the rest, and tell where outputs differ now')
    .action((what: string, { planHash, reExecute }: Options, command: Command) =>
      cli.run(command, async (session) => {
        const client = await session.client();
        if (reExecute) return reExecuteRun(session, what.replace(/^inv_/, 'run_'), planHash);
        if (/^(run|inv)_[\w-]+$/.test(what))
          return print(session, await client.records.replay(what.replace(/^inv_/, 'run_'), { plan_hash: planHash }));
        const { bundle_id } = await client.records.importBundle(await readFile(resolve(session.cwd, what), 'utf8'));
        return print(session, await client.records.replayBundle(bundle_id));
      }),
    );
};

const print = async (session: Session, answer: ReplayAnswer): Promise<ExitCode> => {
  if (session.json) await session.printJson(answer);
  else
    await session.out.line(
      `${answer.run_id} replays ${answer.replay_of}: ${countOf(answer.total_steps, 'step')}, nothing was executed`,
    );
  return EXIT.success;
};

const WAIT_S = 600;

/** Waits for what runs; what is held stays open, and is told as not executed. */
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
    empty: 'No call was made again.',
    columns: [
      { title: 'INVOCATION', text: ({ recorded_invocation_id }) => recorded_invocation_id },
      { title: 'TOOL', text: ({ tool_id }) => tool_id },
      { title: 'NOW', text: ({ status }) => status },
      { title: 'OUTPUT', text: ({ outcome }) => outcome.replace('_', ' ') },
      { title: 'DIFFERENCE', text: (one) => printable(first(one)), shrinks: true },
    ],
  });
};
