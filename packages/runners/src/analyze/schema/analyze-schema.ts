import type { Json, JsonObject } from '@capstan/contracts';
import type { RunOutcome, ToolFailure } from '../../runner.js';
import { diffSchemas } from './diff-schemas.js';
import { inferSchema } from './infer-schema.js';
import { validateDocument } from './validate-document.js';

/** `analyze.schema`: infer, validate, diff. By rules alone, so the same inputs always give the same answer. */
export const analyzeSchema = (inputs: JsonObject): RunOutcome => {
  switch (inputs.operation) {
    case 'infer':
      return infer(inputs);
    case 'validate':
      return validate(inputs);
    case 'diff':
      return diff(inputs);
    default:
      return invalid('operation must be infer, validate or diff');
  }
};

const infer = ({ samples }: JsonObject): RunOutcome => {
  if (!Array.isArray(samples) || samples.length === 0)
    return invalid('infer needs samples: a list of at least one document');
  return { success: true, payload: { schema: inferSchema(samples), samples: samples.length } };
};

const validate = ({ schema, document }: JsonObject): RunOutcome => {
  if (!isSchema(schema)) return invalid('validate needs schema: a JSON Schema');
  if (document === undefined) return invalid('validate needs document');
  const outcome = validateDocument(schema, document);
  return 'broken' in outcome
    ? invalid(`the schema cannot be used: ${outcome.broken}`)
    : { success: true, payload: outcome };
};

const diff = ({ before, after }: JsonObject): RunOutcome => {
  if (!isSchema(before) || !isSchema(after)) return invalid('diff needs before and after: two JSON Schemas');
  return { success: true, payload: diffSchemas(before, after) };
};

const isSchema = (value: Json | undefined): value is JsonObject | boolean =>
  typeof value === 'boolean' || (typeof value === 'object' && value !== null && !Array.isArray(value));

const invalid = (error: string): ToolFailure => ({ success: false, error, kind: 'INVALID_INPUTS', retryable: false });
