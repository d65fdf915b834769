import { setImmediate as afterOthers } from 'node:timers/promises';
import type { JsonObject } from '@capstan/contracts';
import { type CompiledPlan, compilingPlan, PlanFailure } from '@capstan/plan';
import { isLong, readAside } from '../aside/read-aside.js';
import type { GatewayContext } from '../gateway-context.js';
import type { PlanQuestion } from './plan-thread.js';

type Catalog = Pick<GatewayContext['catalog'], 'get' | 'similar'>;

const THREAD = new URL('./plan-thread.js', import.meta.url);
const SLICE_MS = 10;

/** Checks a plan, and answers it compiled. However large it is, others are answered meanwhile. */
export async function readPlan(catalog: Catalog, source: unknown): Promise<CompiledPlan> {
  if (typeof source !== 'string' || !isLong(source)) return compile(catalog, source);
  const document = await askThread({ text: source });
  try {
    return await compile(catalog, document);
  } catch (error) {
    // The thread knows no catalog, and the document no lines.
    if (error instanceof PlanFailure) await askThread({ text: source, errors: error.errors });
    throw error;
  }
}

const askThread = (question: PlanQuestion) => readAside<JsonObject>(THREAD, question, 'PLAN_INVALID');

async function compile(catalog: Catalog, source: unknown): Promise<CompiledPlan> {
  const compiling = compilingPlan(
    source,
    (tool_id) => (catalog.get(tool_id) ? undefined : { similar: catalog.similar(tool_id) }),
    (tool_id, inputs) => catalog.get(tool_id)?.check(inputs) ?? [],
  );
  for (let since = performance.now(); ; ) {
    const { done, value } = compiling.next();
    if (done) return value;
    if (performance.now() - since < SLICE_MS) continue;
    await afterOthers();
    since = performance.now();
  }
}
