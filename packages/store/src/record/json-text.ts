/**
 * JSON travels as text within JSON: Postgres' JSON functions refuse \u0000, its `json` type does not. In bundles of version
 * 2.0 it is text already.
 */
export const jsonText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null));
