import { Run, Verification } from '@capstan/contracts';
import { z } from 'zod';
import { attempt, type Bench } from '../bench.js';
import type { PlanRound } from '../findings.js';
import { TOOL } from '../load/call-and-check.js';
import { type Endpoint, request } from '../load/endpoint.js';
import { pollUntil } from '../load/poll-until.js';
import { perSecond } from '../subject.js';
import { hasBubblewrap, withExecWorkers } from './exec-workers.js';

const STEPS = 1000;
const LAYERS = 20;
const ELEMENTS = 10_000;

interface Work {
  readonly kind: PlanRound['kind'];
  readonly path: string;
  readonly body: string;
}
interface Pair {
  readonly title: string;
  readonly count: number;
  /** The accepted time of a plan, as a multiple of the bulk's. */
  readonly target: number;
  /** The same calls, as a bulk and as a plan. */
  readonly works: readonly Work[];
}

/**
 * Plans beside bulk submissions of as many calls, in turns: of a tool that does next to nothing, so that all that is left is
 * what the plan costs, and of processes, so that it is seen how much that is of real work.
 */
export async function measurePlans(bench: Bench): Promise<void> {
  const { capstans, options, findings } = bench;
  await measurePairs(bench, SUMS);
  if (options.quick) findings.notes.push('Plans of processes were not measured: they take minutes. Leave --quick out.');
  else if (!hasBubblewrap())
    findings.notes.push('Plans of processes were not measured: bubblewrap does not work on this machine.');
  else await withExecWorkers(capstans, () => measurePairs(bench, PROCESSES));
}

async function measurePairs(bench: Bench, pairs: readonly Pair[]): Promise<void> {
  const { rounds } = bench.options;
  for (let round = 0; round <= rounds; round += 1)
    for (const { title, count, target, works } of pairs)
      for (const { name: subject, endpoint } of bench.capstans)
        for (const work of works) {
          const part = `${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}: ${title}, ${work.kind}`;
          await attempt(bench, { part, subject }, async () => {
            const elapsed_ms = await measure(endpoint, work, count);
            if (round === 0) return;
            bench.progress.done(`${part}, ${subject}: ${Math.round(perSecond({ count, elapsed_ms }))}/s`);
            bench.findings.plans.push({ round, subject, title, count, kind: work.kind, elapsed_ms, target });
          });
        }
}

const Accepted = z.object({ run_id: z.string() });
const Runs = z.object({ items: z.array(Run) });

/** From the request until the run is over, by the clock of the machine that all of it shares: looking often would be work as well. */
async function measure(endpoint: Endpoint, { kind, path, body }: Work, count: number): Promise<number> {
  const started = Date.now();
  const { run_id } = await request(endpoint, { path, body, status: 202, answer: Accepted });
  let run: Run | undefined;
  const isOver = async () => {
    // The newest: as a list, a run comes without the plan.
    const { items } = await request(endpoint, { path: `/v1/runs?limit=1&kind=${kind}`, status: 200, answer: Runs });
    run = items[0];
    return run?.run_id === run_id && run.finished_at !== null;
  };
  await pollUntil(isOver, { every_ms: 100, within_ms: 120_000, what: `${run_id} is over` });
  if (run?.completed_steps !== count) throw new Error(`${run_id} did not complete: ${JSON.stringify(run)}`);
  await sealAndVerify(endpoint, run_id);
  return Date.parse(run.finished_at ?? '') - started;
}

/** The next measurement must not compete with sealing this one. */
async function sealAndVerify(endpoint: Endpoint, run_id: string): Promise<void> {
  const { ok } = await request(endpoint, { path: `/v1/runs/${run_id}/verify`, status: 200, answer: Verification });
  if (!ok) throw new Error(`${run_id} does not verify`);
}

/** The inputs of steps: constants, or outputs of another step. */
interface Tool {
  readonly tool_id: string;
  inputs(at: number): object;
  inputsFrom(step: string): object;
}

const SUM: Tool = {
  tool_id: TOOL,
  inputs: (at) => ({ a: at, b: 3 }),
  inputsFrom: (step) => ({ a: `\${{ steps.${step}.output.result }}`, b: 3 }),
};
const PROCESS: Tool = {
  tool_id: 'shell.run',
  inputs: () => ({ cmd: ['true'] }),
  inputsFrom: (step) => ({ cmd: ['test', `\${{ steps.${step}.status }}`, '=', 'succeeded'] }),
};

const WIDE = 'one to many to one';
const DEEP = `in ${LAYERS} layers`;
const SUMS: readonly Pair[] = [
  pair({ title: `a graph of ${STEPS} sums, ${WIDE}`, count: STEPS, target: 1.5 }, SUM, wideGraph(SUM)),
  pair({ title: `a graph of ${STEPS} sums ${DEEP}`, count: STEPS, target: 2 }, SUM, deepGraph(SUM)),
  pair({ title: `for_each over ${ELEMENTS}`, count: ELEMENTS, target: 1.2 }, SUM, [
    { for_each: Array.from({ length: ELEMENTS }, (_, n) => n), tool: TOOL, args: { a: `\${{ item }}`, b: 3 } },
  ]),
];
const PROCESSES: readonly Pair[] = [
  pair({ title: `a graph of ${STEPS} processes, ${WIDE}`, count: STEPS, target: 1.2 }, PROCESS, wideGraph(PROCESS)),
  pair({ title: `a graph of ${STEPS} processes ${DEEP}`, count: STEPS, target: 1.2 }, PROCESS, deepGraph(PROCESS)),
];

function pair(
  { title, count, target }: Omit<Pair, 'works'>,
  { tool_id, inputs }: Tool,
  steps: readonly object[],
): Pair {
  const invocations = Array.from({ length: count }, (_, at) => ({ tool_id, inputs: inputs(at) }));
  return {
    ...{ title, count, target },
    works: [
      { kind: 'bulk', path: '/v1/invocations/bulk', body: JSON.stringify({ invocations }) },
      { kind: 'plan', path: '/v1/runs', body: JSON.stringify({ plan: { steps } }) },
    ],
  };
}

/** One step that all but the last need, and the last needs all of them. */
function wideGraph({ tool_id: tool, inputs, inputsFrom }: Tool): object[] {
  const middle = Array.from({ length: STEPS - 2 }, (_, at) => ({
    id: `s${at}`,
    needs: ['first'],
    tool,
    args: inputsFrom('first'),
  }));
  const first = { id: 'first', needs: [], tool, args: inputs(1) };
  return [first, ...middle, { id: 'last', needs: middle.map(({ id }) => id), tool, args: inputs(2) }];
}

/** Each step needs two of the layer before, and takes what one of them gave. */
function deepGraph({ tool_id: tool, inputs, inputsFrom }: Tool): object[] {
  const width = STEPS / LAYERS;
  const id = (layer: number, at: number) => `s${layer}_${at % width}`;
  return Array.from({ length: STEPS }, (_, place) => {
    const [layer, at] = [Math.floor(place / width), place % width];
    const step = { id: id(layer, at), tool };
    if (layer === 0) return { ...step, needs: [], args: inputs(at) };
    const before = id(layer - 1, at);
    return { ...step, needs: [before, id(layer - 1, at + 1)], args: inputsFrom(before) };
  });
}
