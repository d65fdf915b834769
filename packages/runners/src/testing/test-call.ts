import { type Descriptor, NO_EFFECTS } from '@capstan/contracts';
import { createRedactor } from '@capstan/redact';
import type { Call } from '../runner.js';

export const testDescriptor = (over: Partial<Descriptor> & { tool_id: string }): Descriptor => ({
  name: over.tool_id,
  description: '',
  source: 'core',
  origin: 'core',
  runner: 'builtin',
  binding: { kind: 'native' },
  input_schema: {},
  risk: 'LOW',
  side_effects: [],
  effects: NO_EFFECTS,
  trust: 'native',
  inferred: [],
  ...over,
});

/** A call as a worker makes it; what it keeps is counted, and it knows no secrets. */
export const testCall = (descriptor: Descriptor, over: Partial<Call> = {}): Call => ({
  invocation_id: 'inv_1',
  attempt: 1,
  tenant: 'acme',
  actor: 'ann',
  session_id: null,
  descriptor,
  inputs: {},
  labels: {},
  limits: { timeout_ms: 30_000, max_output_bytes: 1_000_000 },
  signal: new AbortController().signal,
  beforeEffect: () => {},
  redact: createRedactor({ values: [] }),
  log: () => {},
  keep: async ({ name, media_type, content }) => {
    let size = 0;
    for await (const chunk of content instanceof Uint8Array ? [content] : content) size += chunk.length;
    return { sha256: '0'.repeat(64), name, media_type, size };
  },
  secret: async (name) => {
    throw new Error(`no secret ${name}`);
  },
  checkpoint: async () => {},
  resumed: async () => null,
  ask: async () => null,
  session: null,
  ...over,
});
