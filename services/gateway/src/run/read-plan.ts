import { setImmediate as afterOthers } from 'node:timers/promises';
import { type CompiledPlan, compilingPlan, PlanFailure } from '@capstan/plan';
import type { GatewayContext } from '../gateway-context.js';
import { readAside } from './read-aside.js';

type Catalog = Pick<GatewayContext['catalog'], 'get' | 'similar'>;

/** A text that takes longer than a moment to be read is read in a thread. */
const LONG_TEXT = 50_000;
const SLICE_MS = 10;

/** Checks a plan, and answers it compiled. However large it is, others are answered meanwhile. */
export async function readPlan(catalog: Catalog, source: unknown): Promise<CompiledPlan> {
  if (typeof source !== 'string' || source.length <= LONG_TEXT) return compile(catalog, source);
  const document = await readAside({ text: source });
  try {
    return await compile(catalog, document);
  } catch (error) {
    // The thread knows no catalog, and the document no lines.
    if (error instanceof PlanFailure) await readAside({ text: source, errors: error.errors });
    throw error;
  }
}

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
