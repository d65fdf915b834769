import type { Json, JsonObject } from '@capstan/contracts';

/**
 * Who a change breaks. `writers` made documents for the old schema, and the new one refuses some of them. `readers` expect
 * documents of the old schema, and some of the new one are none.
 */
export type Party = 'writers' | 'readers';

export type SchemaChange = {
  /** A JSON pointer into the documents, `*` for any item or member. */
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

/** The new schema takes less. */
export const narrowed = toChange('writers');
/** The new schema takes more. */
export const widened = toChange('readers');
/** Neither takes all that the other does. */
export const replaced = toChange('writers', 'readers');
export const harmless = toChange();

/** One of each, so that whoever remembers what was compared knows them again. */
const ANYTHING: JsonObject = {};
const NOTHING: JsonObject = { not: {} };

/** `true` takes everything, `false` nothing. */
export const asObject = (schema: Json | undefined): JsonObject => {
  if (schema === false) return NOTHING;
  return typeof schema === 'object' && schema !== null && !Array.isArray(schema) ? schema : ANYTHING;
};
