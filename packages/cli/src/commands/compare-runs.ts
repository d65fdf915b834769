import type { Step } from '@capstan/contracts';
import { pairSteps, type StepPair } from '@capstan/contracts/pair-steps';
import { visibleJson, visibleLine, visibleText } from '@capstan/contracts/visible-text';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { countOf } from '../format/count.js';
import { formatDiff } from '../format/diff.js';
import { resolveRun } from '../resolve-id.js';
import type { Session } from '../session.js';

const PAGE = 1000;

export const addCompareRuns: AddCommand = (runs, cli) => {
  runs
    .command('compare')
    .description('compare the steps of two runs; exits with 1 if they differ')
    .argument('<run>', 'run_…, or the name of a plan that ran once')
    .argument('<other>', 'the run to compare it with')
    .action((run: string, other: string, _options: object, command: Command) =>
      cli.run(command, (session) => compare(session, run, other)),
    );
};

const compare = async (session: Session, run: string, other: string): Promise<ExitCode> => {
  const [first, second] = [await stepsOf(session, run), await stepsOf(session, other)];
  const pairs = pairSteps(first, second);
  const differing = pairs.filter(({ same }) => !same);
  if (session.json) await session.printJson({ total: pairs.length, differing: differing.length, steps: pairs });
  else {
    for (const pair of differing) await print(session, pair);
    await session.out.line(`${countOf(differing.length, 'step')} of ${pairs.length} differ.`);
  }
  return differing.length > 0 ? EXIT.failed : EXIT.success;
};

const stepsOf = async (session: Session, run: string): Promise<Step[]> => {
  const client = await session.client();
  const steps: Step[] = [];
  for await (const step of client.runs.steps(await resolveRun(session, run), { limit: PAGE })) steps.push(step);
  return steps;
};

const print = async ({ out }: Session, { name, first, second }: StepPair): Promise<void> => {
  const { colors } = out;
  const [was, is] = [first?.status ?? 'missing', second?.status ?? 'missing'];
  await out.line(`${colors.bold(visibleLine(name))}  ${was === is ? was : `${was} → ${is}`}`);
  for (const line of formatDiff(textOf(first), textOf(second), colors)) await out.line(`  ${line}`);
};

/** The error of a step, or its output. */
const textOf = (step: Step | undefined): string => {
  if (!step?.result) return '';
  const { error, payload } = step.result;
  return error === null ? visibleJson(payload, 2) : visibleText(error);
};
