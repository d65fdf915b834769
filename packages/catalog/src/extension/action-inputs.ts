import { isObject, type JsonObject } from '@capstan/contracts';
import type { RunnableAction } from './actions-of.js';
import { placeholdersOf } from './placeholders.js';
import type { NamedRunner } from './read-runner.js';

/** The input schema of a command without a template: the words as typed. */
const TYPED_INPUTS: JsonObject = {
  type: 'object',
  properties: {
    args: { type: 'array', items: { type: 'string' }, description: 'The arguments, in order' },
    flags: {
      type: 'object',
      description:
        'The options: by name (n is -n, name is --name), or as written (--n, -name, --name= with the value joined)',
      additionalProperties: {
        type: ['string', 'number', 'boolean', 'array'],
        items: { type: ['string', 'number', 'boolean'] },
      },
    },
  },
  additionalProperties: false,
};

const REQUEST_INPUTS: JsonObject = {
  type: 'object',
  required: ['url'],
  properties: {
    url: { type: 'string' },
    headers: { type: 'object', additionalProperties: { type: 'string' } },
    query: { type: 'object' },
    body: {},
  },
  additionalProperties: false,
};

/** The input schema of an action: declared, derived from its templates, or that of the native tool behind it. */
export function inputSchemaOf(action: RunnableAction, runner: NamedRunner, native: JsonObject | undefined): JsonObject {
  if (action.input_schema) return action.input_schema;
  if (runner.type === 'exec') return action.argv ? fromTemplates(action) : TYPED_INPUTS;
  if (runner.type === 'api' && action.request) return fromTemplates(action);
  const fixed = [...Object.keys(action.preset ?? {}), ...(runner.type === 'api' && runner.method ? ['method'] : [])];
  const own = without(native ?? (runner.type === 'api' ? REQUEST_INPUTS : { type: 'object' }), fixed);
  return action.preset ? withInputs(own, placeholdersOf(action)) : own;
}

/** The inputs that the preset values of an action refer to. */
function withInputs(schema: JsonObject, inputs: readonly { name: string }[]): JsonObject {
  if (inputs.length === 0) return schema;
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  return {
    ...schema,
    properties: { ...Object.fromEntries(inputs.map(({ name }) => [name, {}])), ...properties },
    required: [...required, ...inputs.map(({ name }) => name)],
  };
}

/** Inputs that an action presets are not part of its schema. */
function without(schema: JsonObject, names: readonly string[]): JsonObject {
  if (names.length === 0 || !isObject(schema.properties)) return schema;
  const properties = Object.entries(schema.properties).filter(([name]) => !names.includes(name));
  const required = Array.isArray(schema.required) ? schema.required : [];
  return {
    ...schema,
    properties: Object.fromEntries(properties),
    required: required.filter((name) => typeof name === 'string' && !names.includes(name)),
  };
}

function fromTemplates(action: RunnableAction): JsonObject {
  const inputs = placeholdersOf(action);
  return {
    type: 'object',
    required: inputs.map(({ name }) => name),
    properties: Object.fromEntries(
      inputs.map(({ name, many }) => [name, many ? { type: 'array', items: { type: 'string' } } : { type: 'string' }]),
    ),
    additionalProperties: false,
  };
}
