import type { Json } from '@capstan/contracts';

/** Postgres' text holds neither NUL nor half of a surrogate pair. */
export const storableText = (text: string): string => text.toWellFormed().replaceAll('\u0000', '\ufffd');

/** What has no canonical form (half surrogates, numbers that are not finite) is replaced, so that it can be hashed. */
export function wellFormed(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key.toWellFormed(), wellFormed(member)]));
  return value;
}
