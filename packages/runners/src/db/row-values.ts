import type { Json } from '@capstan/contracts';

/** Converts a driver's value to JSON without losing digits. Bytes become base64, times RFC 3339. */
export const toJson = (value: unknown): Json => {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'bigint':
      return exact(value);
    case 'object':
      return objectToJson(value);
    default:
      return null;
  }
};

/** A number if JSON parsers keep it exactly, otherwise text. */
export const exact = (value: bigint): Json =>
  value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : String(value);

const objectToJson = (value: object | null): Json => {
  if (value === null) return null;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (Array.isArray(value)) return value.map(toJson);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, toJson(member)]));
};

/** Keeps both of two columns with the same name. */
export const distinctNames = (names: readonly string[]): string[] => {
  const taken = new Set<string>();
  return names.map((name) => {
    let distinct = name;
    for (let count = 2; taken.has(distinct); count += 1) distinct = `${name}_${count}`;
    taken.add(distinct);
    return distinct;
  });
};
