import { isObject, type Json, type JsonObject } from '@capstan/contracts';

const KEY = 'x-mcp-header';
/** A valid header name (RFC 9110). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: ReadonlySet<Json | undefined> = new Set(['string', 'integer', 'boolean']);

/**
 * Why a tool of an HTTP server cannot be called: it wants arguments repeated in headers that cannot carry them. Null if it
 * can be called. The protocol requires leaving such a tool out rather than calling it without the headers.
 */
export function headerFault(schema: JsonObject): string | null {
  const names = new Set<string>();
  /** `at`: the path of property names, or null if it contains anything else. */
  const visit = (node: Json | undefined, at: string[] | null): string | null => {
    if (Array.isArray(node)) return firstOf(node.map((one) => () => visit(one, null)));
    if (typeof node !== 'object' || node === null) return null;
    const { [KEY]: name, properties, ...rest } = node;
    const fault = name === undefined ? null : faultOf(name, node.type, at);
    if (fault !== null) return fault;
    return firstOf([
      ...Object.entries(isObject(properties) ? properties : {}).map(
        ([key, child]) =>
          () =>
            visit(child, at && [...at, key]),
      ),
      ...Object.entries(rest).map(
        ([keyword, child]) =>
          () =>
            VALUES.has(keyword) ? null : visit(child, null),
      ),
    ]);
  };
  const faultOf = (name: Json, type: Json | undefined, at: string[] | null): string | null => {
    if (at === null || at.length === 0) return `${KEY} is only for properties, not for what is within lists or choices`;
    const place = at.join('.');
    if (typeof name !== 'string' || !TOKEN.test(name)) return `${place}: ${KEY} is no name of a header`;
    if (!TYPES.has(type)) return `${place}: ${KEY} is only for texts, integers and booleans`;
    if (names.has(name.toLowerCase())) return `${place}: ${KEY} ${name} is there twice`;
    names.add(name.toLowerCase());
    return null;
  };
  return visit(schema, []);
}

/** Keywords that contain plain values, where the annotation has no meaning. */
const VALUES: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);

function firstOf(looks: (() => string | null)[]): string | null {
  for (const look of looks) {
    const found = look();
    if (found !== null) return found;
  }
  return null;
}
