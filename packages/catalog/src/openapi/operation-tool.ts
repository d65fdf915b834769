import { type Descriptor, type JsonObject, NO_EFFECTS } from '@capstan/contracts';
import type { DeclaredEffects } from '../effects/merge-effects.js';
import { mergeEffects } from '../effects/merge-effects.js';
import { inferDanger } from '../infer/infer-danger.js';
import { type Clue, cluesInWords } from '../infer/words.js';
import { compileSchema } from '../schema/compile-schema.js';
import { PatternTimeout } from '../schema/guarded-reg-exp.js';
import { type BindContext, bindOperation } from './bind-operation.js';
import type { PlacedOperation } from './openapi-document.js';

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);
const REPEATABLE = new Set([...READS, 'PUT', 'DELETE']);

/** The tool that calls an operation; its warnings are about the tool. Throws if nobody could call it. */
export function operationTool(placed: PlacedOperation, context: BindContext) {
  const { name, method, path, operation } = placed;
  const warnings: string[] = [];
  const { input_schema, binding } = bindOperation(placed, context, warnings);
  requireUsable(input_schema);
  const description = (operation.description || operation.summary || `${method} ${path}`).slice(0, 4000);
  const words = READS.has(method)
    ? []
    : cluesInWords({ name, description: operation.summary || description, input_schema });
  const danger = inferDanger({}, [...clues(method), ...words]);
  const effects: DeclaredEffects = {
    ...{ network: true, subprocess: false, interactive: false, filesystem: NO_EFFECTS.filesystem },
    ...{ idempotent: REPEATABLE.has(method), reversible: READS.has(method) },
    ...{ destructive: method === 'DELETE' || method === 'PUT', billable: danger.side_effects.includes('payments') },
  };
  const descriptor: Descriptor = {
    tool_id: `openapi:${context.api}:${name}`,
    name,
    description,
    source: 'openapi',
    origin: context.api,
    runner: 'api',
    binding,
    input_schema,
    risk: danger.risk,
    side_effects: danger.side_effects,
    effects: mergeEffects(effects),
    trust: 'org',
    inferred: [
      ...danger.inferred,
      { field: 'effects', why: `the method ${method}` },
      { field: 'trust', why: 'org: a document that an admin added' },
    ],
  };
  return { descriptor, warnings };
}

function requireUsable(schema: JsonObject): void {
  try {
    compileSchema(schema);
  } catch (error) {
    // This machine is busy, which says nothing about the schema.
    if (!(error instanceof PatternTimeout)) throw error;
  }
}

const clues = (method: string): Clue[] => [
  {
    risk: READS.has(method) ? 'MED' : method === 'DELETE' ? 'HIGH' : 'MED',
    side_effect: 'network.http',
    why: `it sends a request with ${method}`,
  },
  ...(READS.has(method)
    ? []
    : [{ risk: 'HIGH', side_effect: null, why: `${method} changes something` } satisfies Clue]),
];
