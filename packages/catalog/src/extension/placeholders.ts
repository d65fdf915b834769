import { isObject, type Json, type JsonObject } from '@capstan/contracts';
import { keyword } from '../schema/subschemas.js';
import type { RunnableAction } from './actions-of.js';

/** Placeholders as the runners fill them: a command line also takes lists, and a request allows blanks around the name. */
const IN_COMMAND = /\{\{(?<spread>\.\.\.)?(?<name>[\w.-]+)\}\}/g;
const IN_REQUEST = /\{\{\s{0,5}(?<name>[A-Za-z_][\w.-]{0,100})\s{0,5}\}\}/g;
const LIST = /\{\{\s{0,5}\.\.\.[\w.-]{1,100}\s{0,5}\}\}/g;
const WITH_BLANKS = /\{\{(?:\s+(?:\.\.\.)?([\w.-]+)\s*|(?:\.\.\.)?([\w.-]+)\s+)\}\}/g;

/** A preset value may only be an input as a whole, so that no input becomes part of a larger text, such as a statement or a path. */
const WHOLE = /^\{\{(?<name>[A-Za-z_][\w.-]{0,100})\}\}$/g;

type Placeholder = { name: string; many: boolean };

/** The inputs that an action's templates name. */
export function placeholdersOf(action: RunnableAction): Placeholder[] {
  const found = new Map<string, boolean>();
  const look = (template: string, pattern: RegExp) => {
    for (const { groups: { name, spread } = {} } of template.matchAll(pattern))
      if (name !== undefined) found.set(name, spread !== undefined || found.get(name) === true);
  };
  for (const template of commandTemplates(action)) look(template, IN_COMMAND);
  look(JSON.stringify(action.request ?? {}), IN_REQUEST);
  for (const text of textsIn(action.preset ?? {})) look(text, WHOLE);
  return [...found].map(([name, many]) => ({ name, many }));
}

/** Templates that would never be filled in. A missing value is left out of a command line, so nobody would notice. */
export function wrongPlaceholders(action: RunnableAction, schema: JsonObject): string[] {
  const known = propertiesIn(schema);
  const unknown = placeholdersOf(action).filter(({ name }) => !known.has(name));
  const blank = commandTemplates(action)
    .flatMap((template) => [...template.matchAll(WITH_BLANKS)])
    // Other braces may be meant literally: programs have template syntaxes of their own.
    .filter(([, before = '', after = '']) => known.has(before || after));
  const partial = textsIn(action.preset ?? {})
    .filter((text) => !text.match(WHOLE))
    .flatMap((text) => [...text.matchAll(IN_COMMAND)]);
  const lists = [...JSON.stringify(action.request ?? {}).matchAll(LIST)];
  return [
    ...unknown.map(({ name }) => `{{${name}}} is not a property of its input_schema`),
    ...lists.map(([whole]) => `${whole} is not filled in: a request takes no lists`),
    ...partial.map(([whole]) => `${whole} is not filled in: preset takes an input only as a whole value`),
    ...blank.map(([whole]) => `${whole} is not filled in: write it without blanks`),
  ];
}

function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

const commandTemplates = ({ argv = [], stdin }: RunnableAction): string[] => [...argv, stdin ?? ''];

const OF_THE_SAME_VALUE = ['allOf', 'anyOf', 'oneOf', 'then', 'else', 'dependentSchemas', '$defs', 'definitions'];

/** The properties that a schema names, also in its branches and in what it may refer to. */
function propertiesIn(schema: JsonObject): Set<string> {
  const names = new Set<string>();
  const open: Json[] = [schema];
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    if (!isObject(each)) continue;
    const properties = keyword(each, 'properties');
    if (isObject(properties)) for (const name of Object.keys(properties)) names.add(name);
    for (const name of OF_THE_SAME_VALUE) {
      const inner = keyword(each, name);
      if (Array.isArray(inner)) open.push(...inner);
      else if (isObject(inner)) open.push(inner, ...Object.values(inner));
    }
  }
  return names;
}
