import { Failure, isObject, type Json, type JsonObject, type RequestStyle } from '@capstan/contracts';

const PLACEHOLDER = /\{\{\s{0,5}([A-Za-z_][\w.-]{0,100})\s{0,5}\}\}/g;
const WHOLE = /^\{\{\s{0,5}([A-Za-z_][\w.-]{0,100})\s{0,5}\}\}$/;

/** Encodes a value for its position. Without an encoder, a missing value is an error. */
type Encode = (value: Json, at: number) => string;

const asText = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

function fill(template: string, inputs: JsonObject, encode: Encode): string {
  return template.replaceAll(PLACEHOLDER, (_whole, name: string, at: number) => {
    const value = inputs[name];
    if (value === undefined) throw new Failure('INVALID_INPUTS', { detail: `${name}: is needed for this request` });
    return encode(value, at);
  });
}

/**
 * A value becomes one part of the path or the query, because separators in it are escaped. If the template starts with a placeholder, the value is
 * the URL itself.
 */
export const fillUrl = (template: string, inputs: JsonObject): string =>
  fill(template, inputs, (value, at) => {
    const text = asText(value);
    if (at === 0) return text;
    // Escaping does not help here, because URLs treat %2e%2e like two dots.
    if (text === '.' || text === '..')
      throw new Failure('INVALID_INPUTS', { detail: 'a part of a path cannot be . or ..' });
    return encodeURIComponent(text);
  });

/** Entries are left out if they consist of a missing input. */
export const fillValues = (templates: Record<string, string>, inputs: JsonObject): Record<string, string> =>
  Object.fromEntries(
    Object.entries(templates).flatMap(([name, template]) =>
      isMissing(template, inputs) ? [] : [[name, fill(template, inputs, asText)]],
    ),
  );

/** A list repeats its name; everything else is as in headers, unless the request says how to write it. */
export const fillQuery = (
  templates: Record<string, string>,
  inputs: JsonObject,
  styles: Record<string, RequestStyle> = {},
): JsonObject =>
  Object.fromEntries(
    Object.entries(templates).flatMap(([name, template]): [string, Json][] => {
      const whole = WHOLE.exec(template)?.[1];
      const value = whole === undefined ? undefined : inputs[whole];
      if (whole !== undefined && isObject(value) && styles[whole] === 'fields')
        return Object.entries(value).map(asEntry);
      if (whole !== undefined && typeof value === 'object' && styles[whole] === 'deep') return nested(name, value);
      if (isScalars(value)) return [[name, value]];
      return isMissing(template, inputs) ? [] : [[name, fill(template, inputs, asText)]];
    }),
  );

const isScalars = (value: Json | undefined): value is Json[] =>
  Array.isArray(value) && value.every((each) => typeof each !== 'object');

const asEntry = ([name, value]: [string, Json]): [string, Json] => [name, isScalars(value) ? value : asText(value)];

/** `filter[price][gt]=5`, and `filter[tags][]=a` for a list. */
function nested(name: string, value: Json): [string, Json][] {
  if (isScalars(value)) return [[`${name}[]`, value]];
  if (typeof value !== 'object' || value === null) return [asEntry([name, value])];
  return Object.entries<Json>(value).flatMap(([key, each]) => nested(`${name}[${key}]`, each));
}

const SEPARATORS: Partial<Record<RequestStyle, string>> = { comma: ',', space: ' ', pipe: '|' };

/** The inputs, with lists and objects that are written with separators, or as JSON, as text. */
export const withSeparators = (inputs: JsonObject, styles: Record<string, RequestStyle>): JsonObject =>
  Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => {
      const style = styles[name];
      if (style === undefined || typeof value !== 'object' || value === null) return [name, value];
      const separator = SEPARATORS[style];
      const parts = Array.isArray(value) ? value : Object.entries<Json>(value).flat();
      if (separator !== undefined) return [name, parts.map(asText).join(separator)];
      return [name, style === 'json' ? JSON.stringify(value) : value];
    }),
  );

/** In a structure, a value keeps its type and cannot inject anything else. */
export function fillBody(template: Json, inputs: JsonObject): Json {
  if (typeof template === 'string') {
    const whole = WHOLE.exec(template)?.[1];
    return (whole === undefined ? undefined : inputs[whole]) ?? fill(template, inputs, asText);
  }
  if (Array.isArray(template))
    return template.filter((item) => !isMissing(item, inputs)).map((item) => fillBody(item, inputs));
  if (template === null || typeof template !== 'object') return template;
  return Object.fromEntries(
    Object.entries(template)
      .filter(([, value]) => !isMissing(value, inputs))
      .map(([name, value]) => [name, fillBody(value, inputs)]),
  );
}

/** True if it consists of an input that was not given. */
export function isMissing(template: Json, inputs: JsonObject): boolean {
  const name = typeof template === 'string' ? WHOLE.exec(template)?.[1] : undefined;
  return name !== undefined && inputs[name] === undefined;
}
