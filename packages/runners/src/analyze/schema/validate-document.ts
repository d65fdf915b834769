import type { Json, JsonObject } from '@capstan/contracts';
import type { ErrorObject } from 'ajv/dist/2020.js';
import { createAjv } from './create-ajv.js';

const MAX_ERRORS = 100;

export type SchemaError = { path: string; message: string; keyword: string };
export type Validation = { valid: boolean; errors: SchemaError[]; more_errors: number };

/** `broken`: the error in the schema itself. */
export const validateDocument = (schema: JsonObject | boolean, document: Json): Validation | { broken: string } => {
  try {
    const validate = createAjv().compile(schema);
    if (validate(document)) return { valid: true, errors: [], more_errors: 0 };
    const errors = validate.errors ?? [];
    const shown = errors.slice(0, MAX_ERRORS).map(toError);
    return { valid: false, errors: shown, more_errors: errors.length - shown.length };
  } catch (error) {
    return { broken: error instanceof Error ? error.message : String(error) };
  }
};

const toError = ({ instancePath, message, keyword, params }: ErrorObject): SchemaError => {
  const member: unknown = params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty;
  const path = typeof member === 'string' ? `${instancePath}/${member}` : instancePath;
  return { path: path === '' ? '/' : path, message: message ?? 'is not valid', keyword };
};
