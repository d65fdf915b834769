import type { Json } from '@capstan/contracts';

/** Postgres' `text` can hold neither NUL nor a lone surrogate. */
export const storableText = (text: string): string => text.toWellFormed().replaceAll('\u0000', '\ufffd');

/** Replaces what has no canonical form (lone surrogates, numbers that are not finite), so that the value can be hashed. */
export function wellFormed(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key.toWellFormed(), wellFormed(member)]));
  return value;
}
