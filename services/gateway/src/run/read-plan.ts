import { setImmediate as afterOthers } from 'node:timers/promises';
import type { JsonObject } from '@capstan/contracts';
import { type CompiledPlan, compilingPlan } from '@capstan/plan';
import type { GatewayContext } from '../gateway-context.js';
import { readAside } from './read-aside.js';

type Catalog = Pick<GatewayContext['catalog'], 'get' | 'similar'>;

/** A text that takes longer than a moment to be read is read in a thread. */
const LONG_TEXT = 50_000;
const SLICE_MS = 10;

/** Checks a plan, and answers it compiled. However large it is, others are answered meanwhile. */
export async function readPlan(catalog: Catalog, source: unknown): Promise<CompiledPlan> {
  const isLong = typeof source === 'string' && source.length > LONG_TEXT;
  const compiling = compilingPlan(
    isLong ? await readLong(catalog, source) : source,
    (tool_id) => findMissing(catalog, tool_id),
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

const findMissing = (catalog: Catalog, tool_id: string) =>
  catalog.get(tool_id) ? undefined : { similar: catalog.similar(tool_id) };

/** The thread knows no catalog: where a tool is missing, it is asked again, for the place. */
async function readLong(catalog: Catalog, text: string): Promise<JsonObject> {
  const { document, tool_ids } = await readAside({ text, unknown: new Map() });
  const unknown = new Map<string, { similar: string[] }>();
  for (const tool_id of tool_ids) {
    const missing = findMissing(catalog, tool_id);
    if (missing) unknown.set(tool_id, missing);
  }
  if (unknown.size > 0) await readAside({ text, unknown });
  return document;
}
