import type { RunDetail, Step } from '@capstan/contracts';
import { visibleLine } from '@capstan/contracts/visible-text';
import { countOf } from '../format/count.js';
import { renderPayload } from '../format/payload.js';
import { printPayload } from '../print-outcome.js';
import type { Session } from '../session.js';
import { nameOfStep } from './name-of-step.js';
import type { PlanTree } from './plan-tree.js';

/** Small pages, because they contain the results, which may be large. */
const PAGE = 100;
const MAX_SHOWN_STEPS = 20;
const MAX_SHOWN_LINES = 10;

/** Prints the results of a run: on a terminal the first lines of each step, in a pipe only the last result, in full. */
export const printOutputs = (session: Session, tree: PlanTree, run: RunDetail): Promise<void> =>
  session.out.tty ? printEach(session, run) : printLast(session, tree, run);

/** Prints nothing unless the run completed, so that the next command in a pipe never gets a partial result. */
const printLast = async (session: Session, tree: PlanTree, run: RunDetail): Promise<void> => {
  const last = tree.branches.findLast(({ told, elements }) =>
    [told, ...elements.values()].some((one) => one?.status === 'succeeded'),
  );
  if (run.status !== 'completed' || last === undefined) return;
  for await (const step of outputsOf(session, run)) {
    if (step.index === last.index) await printPayload(session, { status: 'succeeded', result: step.result });
  }
};

const printEach = async (session: Session, run: RunDetail): Promise<void> => {
  const { out } = session;
  let shown = 0;
  for await (const step of outputsOf(session, run)) {
    const text = renderPayload(step.result.payload).stdout.trimEnd();
    if (text === '') continue;
    if (shown === MAX_SHOWN_STEPS) return out.line(out.colors.dim(`… more: capstan show ${run.run_id}`));
    shown += 1;
    const lines = text.split('\n');
    const hidden = lines.length - MAX_SHOWN_LINES;
    await out.line(`\n${out.colors.bold(visibleLine(nameOfStep(step)))}`);
    await out.line(lines.slice(0, MAX_SHOWN_LINES).join('\n'));
    if (hidden > 0)
      await out.line(
        out.colors.dim(`… ${countOf(hidden, 'more line')}: capstan show ${step.invocation_id ?? run.run_id}`),
      );
  }
};

type Answered = Step & { result: NonNullable<Step['result']> };

const outputsOf = async function* (session: Session, { run_id }: RunDetail): AsyncGenerator<Answered> {
  const client = await session.client();
  for await (const step of client.runs.steps(run_id, { limit: PAGE })) {
    const { status, result } = step;
    if (status === 'succeeded' && result !== null) yield { ...step, result };
  }
};
