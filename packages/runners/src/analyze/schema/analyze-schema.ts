import { isObject, type Json, type JsonObject } from '@capstan/contracts';
import { createRoom, fitting } from '../../file/room.js';
import type { RunOutcome, ToolFailure } from '../../runner.js';
import { diffSchemas } from './diff-schemas.js';
import { inferSchema } from './infer-schema.js';
import { validateDocument } from './validate-document.js';

export type SchemaRequest = { inputs: JsonObject; max_bytes: number };

/** `analyze.schema`: infer, validate, diff. Deterministic: equal inputs give equal answers. */
export const analyzeSchema = ({ inputs, max_bytes }: SchemaRequest): RunOutcome => {
  switch (inputs.operation) {
    case 'infer':
      return infer(inputs);
    case 'validate':
      return validate(inputs, max_bytes);
    case 'diff':
      return diff(inputs, max_bytes);
    default:
      return invalid('operation must be infer, validate or diff');
  }
};

const infer = ({ samples }: JsonObject): RunOutcome => {
  if (!Array.isArray(samples) || samples.length === 0)
    return invalid('infer needs samples: a list of at least one document');
  return { success: true, payload: { schema: inferSchema(samples), samples: samples.length } };
};

const validate = ({ schema, document }: JsonObject, max_bytes: number): RunOutcome => {
  if (!isSchema(schema)) return invalid('validate needs schema: a JSON Schema');
  if (document === undefined) return invalid('validate needs document');
  const outcome = validateDocument(schema, document);
  if ('broken' in outcome) return invalid(`the schema cannot be used: ${outcome.broken}`);
  const errors = fitting(outcome.errors, createRoom(max_bytes, { ...outcome, errors: [] }));
  const more_errors = outcome.more_errors + outcome.errors.length - errors.length;
  return { success: true, payload: { ...outcome, errors, more_errors }, truncated: more_errors > 0 };
};

const diff = ({ before, after }: JsonObject, max_bytes: number): RunOutcome => {
  if (!isSchema(before) || !isSchema(after)) return invalid('diff needs before and after: two JSON Schemas');
  const outcome = diffSchemas(before, after);
  // A change of a schema that is referenced from many places may be listed many times.
  const changes = fitting(outcome.changes, createRoom(max_bytes, { ...outcome, changes: [] }));
  return { success: true, payload: { ...outcome, changes }, truncated: changes.length < outcome.changes.length };
};

const isSchema = (value: Json | undefined): value is JsonObject | boolean =>
  typeof value === 'boolean' || isObject(value);

const invalid = (error: string): ToolFailure => ({ success: false, error, kind: 'INVALID_INPUTS', retryable: false });
