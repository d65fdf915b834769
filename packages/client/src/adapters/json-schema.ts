import type { JsonObject } from '@capstan/contracts';

/**
 * Wraps a JSON Schema as a Standard Schema, which frameworks accept. It accepts every value, because the gateway checks the inputs
 * against the same schema and its error reaches the model.
 */
export type StandardJsonSchema = {
  '~standard': {
    version: 1;
    vendor: 'capstan';
    validate(value: unknown): { value: Record<string, unknown> };
    jsonSchema: { input(): JsonObject; output(): JsonObject };
    types?: { input: Record<string, unknown>; output: Record<string, unknown> };
  };
};

export const standardSchema = (schema: JsonObject): StandardJsonSchema => ({
  '~standard': {
    version: 1,
    vendor: 'capstan',
    validate: (value) => ({ value: value as Record<string, unknown> }),
    jsonSchema: { input: () => schema, output: () => schema },
  },
});
