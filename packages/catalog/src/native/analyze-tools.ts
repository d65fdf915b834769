import { type Descriptor, NO_EFFECTS } from '@capstan/contracts';

const tool = (
  over: Pick<Descriptor, 'tool_id' | 'description' | 'risk' | 'side_effects' | 'effects' | 'input_schema'>,
): Descriptor => ({
  name: over.tool_id,
  source: 'core',
  origin: 'core',
  runner: 'analyze',
  binding: { kind: 'native' },
  trust: 'native',
  inferred: [],
  ...over,
});

const SCHEMA = { type: ['object', 'boolean'], description: 'A JSON Schema, draft 2020-12' };

export const ANALYZE_TOOLS: Descriptor[] = [
  tool({
    tool_id: 'analyze.response',
    description: "Ask a language model about content, or about what the session's last call answered",
    // What is analyzed leaves the installation, and every call is paid for.
    risk: 'MED',
    side_effects: ['network.http', 'network.dns', 'payments'],
    effects: { ...NO_EFFECTS, network: true, billable: true, cost_units: 2 },
    input_schema: {
      type: 'object',
      properties: {
        content: { description: "Anything; without it (or as last_response), the session's last response is taken" },
        question: { type: 'string', maxLength: 10_000, description: 'What to find out; without it, an explanation' },
      },
      additionalProperties: false,
    },
  }),
  tool({
    tool_id: 'analyze.schema',
    description: 'Infer a JSON Schema from samples, validate a document, or tell which changes of a schema break whom',
    risk: 'LOW',
    side_effects: [],
    effects: NO_EFFECTS,
    input_schema: {
      type: 'object',
      required: ['operation'],
      properties: {
        operation: { type: 'string', enum: ['infer', 'validate', 'diff'] },
        samples: { type: 'array', minItems: 1, description: 'infer: documents that the schema should take' },
        schema: { ...SCHEMA, description: 'validate: the schema' },
        document: { description: 'validate: the document' },
        before: { ...SCHEMA, description: 'diff: the schema as it was' },
        after: { ...SCHEMA, description: 'diff: the schema as it is now' },
      },
      additionalProperties: false,
    },
  }),
];
