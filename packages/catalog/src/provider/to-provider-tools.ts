import type { Json, JsonObject, Provider } from '@capstan/contracts';
import { toGeminiSchema } from './gemini-schema.js';
import { toObjectSchema } from './object-schema.js';
import { isObject } from './shape.js';
import type { NamedTool } from './tool-names.js';

/** A tool as one agent has it: inputs that it configured are there as defaults, and need not be given. */
export type OfferedTool = NamedTool & { defaults?: JsonObject | undefined };

/** OpenAI refuses longer ones. */
const MAX_DESCRIPTION = 1024;

/** Tools as the provider's requests take them in `tools`. */
export function toProviderTools(provider: Provider, tools: readonly OfferedTool[]): Json[] {
  if (provider !== 'gemini') return tools.map((tool) => definition(provider, tool));
  return tools.length === 0 ? [] : [{ functionDeclarations: tools.map(geminiDeclaration) }];
}

function definition(provider: Exclude<Provider, 'gemini'>, tool: OfferedTool): JsonObject {
  const { name } = tool;
  const description = describe(tool);
  const parameters = toObjectSchema(schemaOf(tool));
  switch (provider) {
    case 'openai':
      return { type: 'function', function: { name, description, parameters } };
    case 'openai_responses':
      // Strict mode would ask for every property to be required; inputs are checked here in any case.
      return { type: 'function', name, description, parameters, strict: false };
    case 'anthropic':
      return { name, description, input_schema: parameters };
  }
}

function geminiDeclaration(tool: OfferedTool): JsonObject {
  const parameters = toGeminiSchema(schemaOf(tool));
  return { name: tool.name, description: describe(tool), ...(parameters ? { parameters } : {}) };
}

function describe({ descriptor: { description, name } }: OfferedTool): string {
  const text = description || name;
  return text.length <= MAX_DESCRIPTION ? text : `${text.slice(0, MAX_DESCRIPTION - 1).toWellFormed()}…`;
}

function schemaOf({ descriptor: { input_schema }, defaults = {} }: OfferedTool): JsonObject {
  const { properties, required } = input_schema;
  if (!isObject(properties) || Object.keys(defaults).length === 0) return input_schema;
  const configured = Object.entries(properties).map(([name, schema]) =>
    Object.hasOwn(defaults, name) && isObject(schema)
      ? [name, { ...schema, default: defaults[name] ?? null }]
      : [name, schema],
  );
  return {
    ...input_schema,
    properties: Object.fromEntries(configured),
    ...(Array.isArray(required)
      ? { required: required.filter((name) => typeof name !== 'string' || !Object.hasOwn(defaults, name)) }
      : {}),
  };
}
