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
    description: "Ask a language model about content, or about the result of the session's last call",
    // The analyzed data leaves the installation, and every call costs money.
    risk: 'MED',
    side_effects: ['network.http', 'network.dns', 'payments'],
    effects: { ...NO_EFFECTS, network: true, billable: true, cost_units: 2 },
    input_schema: {
      type: 'object',
      properties: {
        content: { description: "Any value; if absent or last_response, the result of the session's last call" },
        question: {
          type: 'string',
          maxLength: 10_000,
          description: 'The question to answer; without it, the content is explained',
        },
      },
      additionalProperties: false,
    },
  }),
  tool({
    tool_id: 'analyze.schema',
    description:
      'Infer a JSON Schema from samples, validate a document, or list the breaking changes between two schemas',
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
