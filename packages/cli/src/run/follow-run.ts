import type { RunDetail, RunEvent, Step } from '@capstan/contracts';
import { visibleLine } from '@capstan/contracts/visible-text';
import { EXIT, type ExitCode } from '../exit-code.js';
import { formatStatus } from '../format/status.js';
import type { Output } from '../output.js';
import { createLiveBlock } from '../progress/live-block.js';
import type { Session } from '../session.js';
import { nameOfStep } from './name-of-step.js';
import { createPlanTree, type PlanTree } from './plan-tree.js';
import { printOutputs } from './print-outputs.js';
import { renderTree, timeOf, whyOf } from './render-tree.js';

const REDRAW_MS = 100;
const MAX_LIVE_LINES = 20;
/** A grant releases what it is for in about a second; what is held for longer waits for a person. */
const HELD_WAIT_MS = 2_000;
/** The heading, the line that says how many more there are, and the one that the cursor is on. */
const OTHER_LINES = 3;
/** Of a longer plan, the end of a run shows what went wrong; the rest is looked up. */
const MAX_LAST_LINES = 50;

/** What is drawn again and again has to fit: what has scrolled away cannot be drawn over. */
const liveLines = ({ rows }: Output): number => Math.max(1, Math.min(MAX_LIVE_LINES, rows - OTHER_LINES));

type FollowOptions = {
  /** Print what the steps answered. In a pipe that is all of stdout, and what happens is told on stderr. */
  outputs: boolean;
};

/** Shows a run until it has ended or waits for a person: a tree on a terminal, a line for each end in a pipe. */
export const followRun = async (session: Session, run_id: string, { outputs }: FollowOptions): Promise<ExitCode> => {
  const client = await session.client();
  const tree = createPlanTree(await client.runs.get(run_id, { signal: session.signal }));
  const look = session.json
    ? silent
    : session.out.live
      ? createLiveLook(session, tree)
      : createPlainLook(plainOf(session, outputs), tree);
  try {
    await hearAll(session, tree, look);
  } catch (error) {
    await look.end();
    if (session.signal.aborted)
      await session.err.line(
        session.err.colors.dim(`Not waiting any more. It goes on: \`capstan show ${run_id} --follow\`.`),
      );
    throw error;
  }
  await look.end();
  const run = await client.runs.get(run_id);
  const exit = await printEnd(session, tree, run, outputs);
  if (outputs && !session.json) await printOutputs(session, tree, run);
  return exit;
};

const plainOf = ({ out, err }: Session, outputs: boolean): Output => (outputs && !out.tty ? err : out);

/** Until there is nothing more to hear, or nothing goes on without a person for a moment already. */
const hearAll = async (session: Session, tree: PlanTree, look: RunLook): Promise<void> => {
  const client = await session.client();
  const parked = new AbortController();
  const signal = AbortSignal.any([session.signal, parked.signal]);
  let timer: NodeJS.Timeout | undefined;
  try {
    for await (const event of client.runs.events(tree.run.run_id, { signal })) {
      tree.hear(event);
      await look.tell(event);
      if (tree.isParked()) timer ??= setTimeout(() => parked.abort(), HELD_WAIT_MS);
      else {
        clearTimeout(timer);
        timer = undefined;
      }
    }
  } catch (error) {
    if (session.signal.aborted || !parked.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
  }
};

type RunLook = { tell(event: RunEvent): Promise<void>; end(): Promise<void> };

const silent: RunLook = { tell: async () => undefined, end: async () => undefined };

const createLiveLook = ({ out, now }: Session, tree: PlanTree): RunLook => {
  const block = createLiveBlock(out);
  const draw = (): Promise<void> =>
    block.show(
      renderTree(tree, { colors: out.colors, columns: out.columns, now: now().getTime(), max_lines: liveLines(out) }),
    );
  // Times go on while nothing happens.
  const timer = setInterval(() => void draw(), REDRAW_MS);
  return {
    tell: async () => undefined,
    end: async () => {
      clearInterval(timer);
      await block.clear();
    },
  };
};

const QUIET: readonly Step['status'][] = ['pending', 'queued', 'deferred', 'running'];

const createPlainLook = (out: Output, tree: PlanTree): RunLook => ({
  tell: async (event) => {
    if (event.event === 'run' || QUIET.includes(event.data.status)) return;
    const { status, tool_id } = event.data;
    const words = [
      formatStatus(status, out.colors),
      nameOfStep(event.data),
      tool_id,
      timeOf(event.data, Date.parse(tree.run.created_at)),
    ];
    await out.line([...words, ...whyOf(event.data)].filter(Boolean).join('  '));
  },
  end: async () => undefined,
});

const printEnd = async (session: Session, tree: PlanTree, run: RunDetail, outputs: boolean): Promise<ExitCode> => {
  const { out, err, json } = session;
  tree.run = run;
  const parked = tree.isParked();
  if (json) await session.printJson({ ...run, steps: await stepsOf(session, run.run_id) });
  else if (out.live)
    await out.line(
      renderTree(tree, {
        colors: out.colors,
        columns: out.columns,
        now: session.now().getTime(),
        max_lines: MAX_LAST_LINES,
      }).join('\n'),
    );
  else {
    const plain = plainOf(session, outputs);
    const words = [formatStatus(run.status, plain.colors), run.name, run.run_id];
    await plain.line(words.filter(Boolean).join('  '));
  }
  if (parked) await err.line(err.colors.yellow(`⏸ it waits for a person: capstan show ${run.run_id}`));
  else if (run.status === 'failed' && run.reason !== null && !json)
    await err.line(`${err.colors.red('✗')} ${visibleLine(run.reason)}`);
  return exitCodeOfRun(run, parked);
};

const stepsOf = async (session: Session, run_id: string): Promise<Step[]> => {
  const client = await session.client();
  const steps: Step[] = [];
  for await (const step of client.runs.steps(run_id, { limit: 1000 })) steps.push(step);
  return steps;
};

export const exitCodeOfRun = (run: RunDetail, parked: boolean): ExitCode => {
  if (parked) return EXIT.held;
  if (run.status === 'completed') return EXIT.success;
  if (run.status === 'failed' && run.denied_steps > 0 && run.failed_steps === 0) return EXIT.denied;
  return run.status === 'failed' || run.status === 'canceled' ? EXIT.failed : EXIT.timed_out;
};
