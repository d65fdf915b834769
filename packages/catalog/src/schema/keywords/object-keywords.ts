import { isObject, type JsonObject } from '@capstan/contracts';
import type { Evaluation, Keyword } from '../evaluate-schema.js';
import { isSchema, keyword, type Schema } from '../subschemas.js';

const applyToProperty = ({ apply, verdict }: Evaluation, schema: Schema, object: JsonObject, name: string): void => {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  if (value === undefined) return;
  if (!apply(schema, { value, step: name }).valid) verdict.valid = false;
  verdict.properties.add(name);
};

/** True if `properties` or `patternProperties` of the same schema cover the property. */
const isNamed = ({ schema, matcher }: Evaluation, name: string): boolean => {
  const properties = keyword(schema, 'properties');
  if (isObject(properties) && Object.hasOwn(properties, name)) return true;
  const patterns = keyword(schema, 'patternProperties');
  return isObject(patterns) && Object.keys(patterns).some((pattern) => matcher(pattern).test(name));
};

const first: Record<string, Keyword> = {
  properties: (schemas, evaluation) => {
    const { value } = evaluation;
    if (!isObject(schemas) || !isObject(value)) return;
    for (const [name, schema] of Object.entries(schemas))
      if (isSchema(schema)) applyToProperty(evaluation, schema, value, name);
  },
  patternProperties: (schemas, evaluation) => {
    const { value, matcher } = evaluation;
    if (!isObject(schemas) || !isObject(value)) return;
    for (const [pattern, schema] of Object.entries(schemas))
      for (const name of Object.keys(value))
        if (isSchema(schema) && matcher(pattern).test(name)) applyToProperty(evaluation, schema, value, name);
  },
  additionalProperties: (schema, evaluation) => {
    const { value } = evaluation;
    if (!isSchema(schema) || !isObject(value)) return;
    for (const name of Object.keys(value))
      if (!isNamed(evaluation, name)) applyToProperty(evaluation, schema, value, name);
  },
  propertyNames: (schema, { value, apply, verdict }) => {
    if (!isSchema(schema) || !isObject(value)) return;
    for (const name of Object.keys(value)) if (!apply(schema, { value: name, step: name }).valid) verdict.valid = false;
  },
};

const last: Record<string, Keyword> = {
  unevaluatedProperties: (schema, evaluation) => {
    const { value, verdict } = evaluation;
    if (!isSchema(schema) || !isObject(value)) return;
    for (const name of Object.keys(value))
      if (!verdict.properties.has(name)) applyToProperty(evaluation, schema, value, name);
  },
};

export const OBJECT_KEYWORDS = { first, last };
