import type { JsonObject } from '@capstan/contracts';

/**
 * A JSON Schema as a Standard Schema, which frameworks take in place of their own kinds. It accepts everything: the gateway checks the
 * inputs against the same schema, and its refusal reaches the model in the words of the tool.
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
