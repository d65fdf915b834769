import { Run, Verification } from '@capstan/contracts';
import { z } from 'zod';
import { TOOL } from './call-and-check.js';
import type { CapstanUnderTest } from './capstan-under-test.js';
import { type Endpoint, request } from './endpoint.js';
import { pollUntil } from './poll-until.js';
import type { Progress } from './progress.js';
import { perSecond } from './sample.js';
import type { SubjectName } from './subject.js';

const STEPS = 1000;
const LAYERS = 20;
const ELEMENTS = 10_000;

interface Work {
  readonly kind: 'bulk' | 'plan';
  readonly path: string;
  readonly body: string;
}
interface Pair {
  readonly title: string;
  readonly count: number;
  /** As a bulk and as a plan: the same calls. */
  readonly works: readonly Work[];
}
export interface PlanRound {
  readonly round: number;
  readonly subject: SubjectName;
  readonly title: string;
  readonly count: number;
  readonly kind: Work['kind'];
  readonly elapsed_ms: number;
}

/** Plans beside bulk submissions of as many calls, in turns. */
export async function measurePlans(
  capstans: readonly CapstanUnderTest[],
  { rounds, progress }: { rounds: number; progress: Progress },
): Promise<PlanRound[]> {
  const found: PlanRound[] = [];
  for (let round = 0; round <= rounds; round += 1)
    for (const { title, count, works } of pairs())
      for (const { name: subject, endpoint } of capstans)
        for (const work of works) {
          const what = `${title}, ${subject}, ${work.kind}`;
          progress.doing(round === 0 ? `warming up: ${what}` : `round ${round} of ${rounds}: ${what}`);
          const elapsed_ms = await measure(endpoint, work, count);
          if (round === 0) continue;
          progress.done(`round ${round} of ${rounds}: ${what}: ${Math.round(perSecond({ count, elapsed_ms }))}/s`);
          found.push({ round, subject, title, count, kind: work.kind, elapsed_ms });
        }
  return found;
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

/** What is measured next is not to share the machine with the sealing of this. */
async function sealAndVerify(endpoint: Endpoint, run_id: string): Promise<void> {
  const { ok } = await request(endpoint, { path: `/v1/runs/${run_id}/verify`, status: 200, answer: Verification });
  if (!ok) throw new Error(`${run_id} does not verify`);
}

function pairs(): Pair[] {
  return [
    pair(`a graph of ${STEPS} steps, one to many to one`, STEPS, { steps: wideGraph() }),
    pair(`a graph of ${STEPS} steps in ${LAYERS} layers`, STEPS, { steps: deepGraph() }),
    pair(`for_each over ${ELEMENTS}`, ELEMENTS, {
      steps: [
        { for_each: Array.from({ length: ELEMENTS }, (_, n) => n), tool: TOOL, args: { a: `\${{ item }}`, b: 3 } },
      ],
    }),
  ];
}

function pair(title: string, count: number, plan: object): Pair {
  const invocations = Array.from({ length: count }, (_, a) => ({ tool_id: TOOL, inputs: { a, b: 3 } }));
  return {
    title,
    count,
    works: [
      { kind: 'bulk', path: '/v1/invocations/bulk', body: JSON.stringify({ invocations }) },
      { kind: 'plan', path: '/v1/runs', body: JSON.stringify({ plan }) },
    ],
  };
}

/** One step that all but the last need, and the last needs all of them. */
function wideGraph(): object[] {
  const middle = Array.from({ length: STEPS - 2 }, (_, at) => ({
    id: `s${at}`,
    needs: ['first'],
    tool: TOOL,
    args: { a: `\${{ steps.first.output.result }}`, b: at },
  }));
  const first = { id: 'first', needs: [], tool: TOOL, args: { a: 1, b: 3 } };
  return [first, ...middle, { id: 'last', needs: middle.map(({ id }) => id), tool: TOOL, args: { a: 2, b: 3 } }];
}

/** Each step needs two of the layer before, and takes what one of them gave. */
function deepGraph(): object[] {
  const width = STEPS / LAYERS;
  const id = (layer: number, at: number) => `s${layer}_${at % width}`;
  return Array.from({ length: STEPS }, (_, place) => {
    const [layer, at] = [Math.floor(place / width), place % width];
    const step = { id: id(layer, at), tool: TOOL };
    if (layer === 0) return { ...step, needs: [], args: { a: at, b: 3 } };
    const before = id(layer - 1, at);
    return {
      ...step,
      needs: [before, id(layer - 1, at + 1)],
      args: { a: `\${{ steps.${before}.output.result }}`, b: 3 },
    };
  });
}
