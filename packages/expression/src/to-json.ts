import type { Json } from '@capstan/contracts';

/** Converts the result of an expression to JSON. Ints become numbers, and timestamps become strings. */
export function toJson(value: unknown): Json {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return finite(value);
    case 'bigint':
      return exact(value);
    case 'object':
      return fromObject(value);
    default:
      throw new Error(`a ${typeof value} is not JSON`);
  }
}

function fromObject(value: object | null): Json {
  if (value === null) return null;
  if (Array.isArray(value)) return value.map(toJson);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, each]) => [String(key), toJson(each)]));
  if ('hasValue' in value && 'orValue' in value && typeof value.orValue === 'function')
    return toJson(value.orValue(null));
  if (!isPlain(value)) return fromNumberLike(value);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, toJson(each)]));
}

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

/** Converts a uint, a duration or a type, whose classes the library does not export. */
function fromNumberLike(value: object): Json {
  const plain: unknown = value.valueOf();
  return typeof plain === 'bigint' ? exact(plain) : String(value);
}

function exact(value: bigint): number {
  if (!Number.isSafeInteger(Number(value))) throw new Error(`${value} is too large for a JSON number`);
  return Number(value);
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw new Error(`${value} is not a JSON number`);
  return value;
}
