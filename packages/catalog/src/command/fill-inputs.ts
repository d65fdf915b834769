import { isObject, type Json, type JsonObject, parseJson } from '@capstan/contracts';
import { coerceTo } from '../input/coerce-inputs.js';
import { flagName, readArguments, type TypedArguments } from './read-arguments.js';

export type Filled = { inputs: JsonObject } | { error: string };

/** Turns typed words into inputs: arguments fill the required inputs and then the others, in order; flags fill inputs by name. */
export function fillInputs(words: readonly string[], schema: JsonObject): Filled {
  const properties = propertiesOf(schema);
  const typed = readArguments(words, {
    isSwitch: (flag) => typeOf(properties, nameOf(flag, properties)) === 'boolean',
  });
  const inputs: JsonObject = {};
  for (const [flag, values] of typed.flags) {
    const name = nameOf(flag, properties);
    if (!Object.hasOwn(properties, name) && schema.additionalProperties === false)
      return {
        error: `there is no --${flag}; it takes ${
          Object.keys(properties)
            .map((each) => `--${each}`)
            .join(', ') || 'none'
        }. Write -- before a value that begins with a dash`,
      };
    inputs[name] = flagValue(values, typeOf(properties, name), properties[name]);
  }
  const open = inOrder(schema, properties).filter((name) => !Object.hasOwn(inputs, name));
  const rest = [...typed.args];
  for (const name of open) {
    const [first] = rest;
    if (first === undefined) break;
    if (typeOf(properties, name) === 'array')
      inputs[name] = rest.splice(0).map((each) => itemValue(each, properties[name]));
    else inputs[name] = readAs(rest.shift() ?? '', typeOf(properties, name));
  }
  if (rest.length > 0)
    return { error: `${JSON.stringify(rest[0])} is one argument too many; quote what belongs together` };
  return { inputs };
}

/** The inputs of a command without a template: the words as typed. */
export function typedInputs(words: readonly string[]): JsonObject {
  const { args, flags }: TypedArguments = readArguments(words, { keyOf: asTyped });
  const named = Object.fromEntries(
    [...flags].map(([name, values]) => [name, values.length > 1 ? values : (values[0] ?? true)]),
  );
  return flags.size > 0 ? { args, flags: named } : { args };
}

/** The name alone if it tells how the flag was typed: `v` for `-v`, `env` for `--env`. Otherwise the flag as typed: `--n`, `-name`, `--env=`. */
const asTyped = (typed: string): string => {
  const name = flagName(typed);
  return typed === (name.length === 1 ? `-${name}` : `--${name}`) ? name : typed;
};

const propertiesOf = ({ properties }: JsonObject): JsonObject => (isObject(properties) ? properties : {});

const inOrder = ({ required }: JsonObject, properties: JsonObject): string[] => {
  const first = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  return [...new Set([...first, ...Object.keys(properties)])];
};

/** People type `--content-type` for `content_type`. */
const nameOf = (flag: string, properties: JsonObject): string => {
  const snake = flag.replaceAll('-', '_');
  return !Object.hasOwn(properties, flag) && Object.hasOwn(properties, snake) ? snake : flag;
};

function typeOf(properties: JsonObject, name: string): string {
  const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isObject(schema) && typeof schema.type === 'string' ? schema.type : 'any';
}

function flagValue(values: (string | true)[], type: string, schema: Json | undefined): Json {
  if (type === 'array') return values.map((each) => (each === true ? true : itemValue(each, schema)));
  const last = values.at(-1) ?? true;
  return last === true ? true : readAs(last, type);
}

const itemValue = (text: string, schema: Json | undefined): Json => {
  const items = isObject(schema) && isObject(schema.items) ? schema.items : {};
  return readAs(text, typeof items.type === 'string' ? items.type : 'string');
};

/** A value of the wrong type stays text, so that the input check reports it by name. */
function readAs(text: string, type: string): Json {
  if (type !== 'object' && type !== 'any') return coerceTo(type, text);
  if (!/^[[{]/.test(text)) return text;
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
