import { ALL_EFFECTS, type Descriptor, type JsonObject, NO_EFFECTS } from '@capstan/contracts';

const NUMBERS: JsonObject = {
  type: 'object',
  required: ['a', 'b'],
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  additionalProperties: false,
};

/** Touches nothing outside itself, so it may be run again at will. */
const harmless = (tool_id: string, description: string, input_schema: JsonObject): Descriptor => ({
  tool_id,
  name: tool_id.slice(tool_id.lastIndexOf(':') + 1),
  description,
  source: 'capability',
  origin: tool_id.split(':')[1] ?? '',
  runner: 'builtin',
  binding: { kind: 'native' },
  input_schema,
  risk: 'LOW',
  side_effects: [],
  effects: NO_EFFECTS,
  trust: 'native',
  inferred: [],
});

export const BUILTIN_TOOLS: Descriptor[] = [
  harmless('cap:current_time:get_current_time', 'The current date and time', {
    type: 'object',
    properties: {
      timezone: { type: 'string', description: 'An IANA time zone, such as America/New_York; UTC by default' },
      format: { type: 'string', enum: ['iso8601', 'unix', 'human'] },
    },
    additionalProperties: false,
  }),
  harmless('cap:test_math:add', 'Add two numbers', NUMBERS),
  harmless('cap:test_math:subtract', 'Subtract the second number from the first', NUMBERS),
  harmless('cap:test_math:multiply', 'Multiply two numbers', NUMBERS),
  harmless('cap:test_math:divide', 'Divide the first number by the second', NUMBERS),
  {
    tool_id: 'shell.run',
    name: 'shell.run',
    description: 'Run a program with arguments; no shell is involved',
    source: 'core',
    origin: 'core',
    runner: 'exec',
    binding: { kind: 'native' },
    input_schema: {
      type: 'object',
      required: ['cmd'],
      properties: {
        cmd: { type: 'array', minItems: 1, items: { type: 'string' } },
        stdin: { type: 'string' },
      },
      additionalProperties: false,
    },
    risk: 'HIGH',
    side_effects: ['system.exec', 'fs.read', 'fs.write', 'network.socket'],
    effects: ALL_EFFECTS,
    trust: 'native',
    inferred: [],
  },
];
