import { holdIdOf, type RunDetail, type RunEvent, type Step } from '@capstan/contracts';
import { visibleLine } from '@capstan/contracts/visible-text';
import { EXIT, type ExitCode } from '../exit-code.js';
import { formatStatus, paintRun, runStatusText } from '../format/status.js';
import { wrapProse } from '../format/width.js';
import type { Output } from '../output.js';
import { formatWhy } from '../print-outcome.js';
import { createLiveBlock } from '../progress/live-block.js';
import type { Session } from '../session.js';
import { nameOfStep } from './name-of-step.js';
import { createPlanTree, type PlanTree } from './plan-tree.js';
import { printOutputs } from './print-outputs.js';
import { renderTree, timeOf, whyOf } from './render-tree.js';

const REDRAW_MS = 100;
const MAX_LIVE_LINES = 20;
/** A grant releases a call within about a second. A call held for longer waits for a person. */
const HELD_WAIT_MS = 2_000;
/** How often to check why nothing runs. */
const CHECK_MS = 3_000;
/** The heading, the count of hidden steps, and the line with the cursor. */
const OTHER_LINES = 3;
/** The final tree of a longer plan shows only the steps that went wrong. */
const MAX_LAST_LINES = 50;

/** A live tree must fit the terminal, because what has scrolled away cannot be redrawn. */
const liveLines = ({ rows }: Output): number => Math.max(1, Math.min(MAX_LIVE_LINES, rows - OTHER_LINES));

type FollowOptions = {
  /** Print the results of the steps. In a pipe, stdout then has only results, and progress goes to stderr. */
  outputs: boolean;
};

/** Follows a run until it ends or waits for a person: as a tree on a terminal, as a line per finished step in a pipe. */
export const followRun = async (session: Session, run_id: string, { outputs }: FollowOptions): Promise<ExitCode> => {
  const client = await session.client();
  const tree = createPlanTree(await client.runs.get(run_id, { signal: session.signal }));
  const look = session.json
    ? silent
    : session.out.live
      ? createLiveLook(session, tree)
      : createPlainLook(plainOf(session, outputs), session.err, tree);
  try {
    await readEvents(session, tree, look);
  } catch (error) {
    await look.end();
    if (session.signal.aborted)
      await session.err.line(
        session.err.colors.dim(`Stopped waiting. The run continues: \`capstan show ${run_id} --follow\`.`),
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

/** Reads events until the run ends, or until it has waited for a person for HELD_WAIT_MS. */
const readEvents = async (session: Session, tree: PlanTree, look: RunLook): Promise<void> => {
  const client = await session.client();
  const parked = new AbortController();
  const signal = AbortSignal.any([session.signal, parked.signal]);
  let timer: NodeJS.Timeout | undefined;
  const looking = setInterval(() => void lookWhy(), CHECK_MS);
  let said: string | null = null;
  const lookWhy = async (): Promise<void> => {
    const call = tree.waitingCall();
    if (call === null) return;
    // Best effort: following the run does not depend on it.
    const waiting = await client.get(call, { signal }).then(
      (invocation) => invocation.waiting,
      () => null,
    );
    if (signal.aborted || waiting === null || waiting.detail === said) return;
    said = waiting.detail;
    await look.say(formatWhy('waiting', waiting, session.err));
  };
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
    clearInterval(looking);
    clearTimeout(timer);
  }
};

type RunLook = {
  tell(event: RunEvent): Promise<void>;
  /** Prints lines on stderr that stay. */
  say(lines: string): Promise<void>;
  end(): Promise<void>;
};

const silent: RunLook = {
  tell: async () => undefined,
  say: async () => undefined,
  end: async () => undefined,
};

const createLiveLook = ({ out, err, now }: Session, tree: PlanTree): RunLook => {
  const block = createLiveBlock(out);
  const draw = (): Promise<void> =>
    block.show(
      renderTree(tree, { colors: out.colors, columns: out.columns, now: now().getTime(), max_lines: liveLines(out) }),
    );
  // Redrawn by time, because durations change without events.
  const timer = setInterval(() => void draw(), REDRAW_MS);
  return {
    tell: async () => undefined,
    say: async (lines) => {
      await block.clear();
      await err.line(lines);
    },
    end: async () => {
      clearInterval(timer);
      await block.clear();
    },
  };
};

const QUIET: readonly Step['status'][] = ['pending', 'queued', 'deferred', 'running'];

const createPlainLook = (out: Output, err: Output, tree: PlanTree): RunLook => ({
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
  say: (lines) => err.line(lines),
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
    const words = [paintRun(run, runStatusText(run), plain.colors), run.name, run.run_id];
    await plain.line(words.filter(Boolean).join('  '));
  }
  if (parked)
    await err.line(err.colors.yellow(wrapProse(`⏸ The run waits for a person: ${howToDecide(tree)}`, 2, err)));
  else if (run.status === 'failed' && run.reason !== null && !json)
    await err.line(`${err.colors.red('✗')} ${visibleLine(run.reason)}`);
  return exitCodeOfRun(run, parked);
};

/** Names the hold if there is only one. */
const howToDecide = (tree: PlanTree): string => {
  const held = tree.heldCalls();
  const [only] = held;
  return held.length === 1 && only !== undefined
    ? `\`capstan holds ${holdIdOf(only)}\`, then release or reject it`
    : `\`capstan holds --run ${tree.run.run_id}\``;
};

const stepsOf = async (session: Session, run_id: string): Promise<Step[]> => {
  const client = await session.client();
  const steps: Step[] = [];
  for await (const step of client.runs.steps(run_id, { limit: 1000 })) steps.push(step);
  return steps;
};

const exitCodeOfRun = (run: RunDetail, parked: boolean): ExitCode => {
  if (parked) return EXIT.held;
  if (run.status === 'completed') return EXIT.success;
  if (run.status === 'failed' && run.denied_steps > 0 && run.failed_steps === 0) return EXIT.denied;
  return run.status === 'failed' || run.status === 'canceled' ? EXIT.failed : EXIT.timed_out;
};
