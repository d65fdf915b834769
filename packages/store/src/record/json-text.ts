/**
 * JSON is nested in JSON as text, because Postgres' JSON functions refuse \u0000 while its `json` type accepts it. In bundles of version 2.0 it is
 * text already.
 */
export const jsonText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null));
