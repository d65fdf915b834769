import { setImmediate as afterOthers } from 'node:timers/promises';
import type { JsonObject } from '@capstan/contracts';
import { type CompiledPlan, compilingPlan, PlanFailure } from '@capstan/plan';
import { isLong, type Question } from '../aside/document-readers.js';
import type { GatewayContext } from '../gateway-context.js';

type Catalog = Pick<GatewayContext['catalog'], 'get' | 'similar'>;
type Reader = { catalog: Catalog; readers: GatewayContext['readers'] };

const SLICE_MS = 10;

/** Checks and compiles a plan without blocking other requests: long texts are parsed in a thread, and compiling is done in slices. */
export async function readPlan({ catalog, readers }: Reader, tenant: string, source: unknown): Promise<CompiledPlan> {
  if (typeof source !== 'string' || !isLong(source)) return compile(catalog, source);
  const ask = (question: Question) => readers.read<JsonObject>(tenant, question);
  const document = await ask({ kind: 'plan', text: source });
  try {
    return await compile(catalog, document);
  } catch (error) {
    // The thread has no catalog, and the parsed document has no line numbers, so the thread looks up the lines of these errors.
    if (error instanceof PlanFailure) await ask({ kind: 'plan', text: source, errors: error.errors });
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
