import { isObject, type Json, type JsonObject } from '@capstan/contracts';

/**
 * The parties that a change can break. `writers` produce documents for the old schema, and the new one rejects some of them. `readers` expect
 * documents of the old schema, and some documents of the new one are not.
 */
export type Party = 'writers' | 'readers';

export type SchemaChange = {
  /** A JSON pointer into the documents, with `*` for any item or member. */
  path: string;
  change: string;
  before: Json;
  after: Json;
  breaks: Party[];
  why: string;
};

type Sides = { before: Json | undefined; after: Json | undefined };

const toChange =
  (...breaks: Party[]) =>
  (path: string, change: string, { before = null, after = null }: Sides, why: string): SchemaChange => ({
    path: path === '' ? '/' : path,
    change,
    before,
    after,
    breaks,
    why,
  });

/** The new schema accepts less. */
export const narrowed = toChange('writers');
/** The new schema accepts more. */
export const widened = toChange('readers');
/** Each of the two schemas accepts something that the other does not. */
export const replaced = toChange('writers', 'readers');
export const harmless = toChange();

/** Single objects, so that pairs that contain them are recognized by identity. */
const ANYTHING: JsonObject = {};
const NOTHING: JsonObject = { not: {} };

/** `true` accepts everything, `false` nothing. */
export const asObject = (schema: Json | undefined): JsonObject => {
  if (schema === false) return NOTHING;
  return isObject(schema) ? schema : ANYTHING;
};
