import { isObject, type Json, type JsonObject, type Provider } from '@capstan/contracts';
import { toGeminiSchema } from './gemini-schema.js';
import { toObjectSchema } from './object-schema.js';
import type { NamedTool } from './tool-names.js';

/** A tool of an agent. Inputs that the agent configured become defaults and are not required. */
export type OfferedTool = NamedTool & { defaults?: JsonObject | undefined };

/** The maximum that OpenAI accepts. */
const MAX_DESCRIPTION = 1024;

/** Formats tools as the provider's requests take them in `tools`. */
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
      // Strict mode requires every property to be required. Inputs are checked by Capstan in any case.
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
