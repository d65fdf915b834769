import type { Json, JsonObject } from '@capstan/contracts';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';

const MAX_ERRORS = 100;

export type SchemaError = { path: string; message: string; keyword: string };
export type Validation = { valid: boolean; errors: SchemaError[]; more_errors: number };

/** Both the schema and the document are somebody's input: patterns are matched in linear time. */
const linearRegExp = Object.assign(
  // Ajv tells patterns apart by their text.
  (pattern: string) => ({ test: matcherOf(pattern), toString: () => pattern }),
  { code: 'require("re2js")' },
);

const matcherOf = (pattern: string): ((text: string) => boolean) => {
  const compiled = RE2JS.compile(pattern);
  return (text) => compiled.matcher(text).find();
};

/** `broken`: what is wrong with the schema itself. */
export const validateDocument = (schema: JsonObject | boolean, document: Json): Validation | { broken: string } => {
  try {
    // A reference to another document is an error: nothing is fetched.
    const ajv = new Ajv2020({
      allErrors: true,
      strict: false,
      validateFormats: false,
      logger: false,
      code: { regExp: linearRegExp },
    });
    const validate = ajv.compile(schema);
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
