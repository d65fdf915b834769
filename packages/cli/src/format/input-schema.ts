import { isObject, type Json, type JsonObject } from '@capstan/contracts';
import type { Colors } from '../output.js';
import { indent } from './fields.js';
import { type Column, formatTable } from './table.js';

type Member = { name: string; schema: JsonObject; required: boolean };

const MAX_CHOICES = 8;

const COLUMNS: Column<Member>[] = [
  { title: 'INPUT', text: ({ name }) => name },
  { title: 'TYPE', text: ({ schema }) => typeOf(schema) },
  { title: '', text: ({ required }) => (required ? 'required' : '') },
  { title: '', text: ({ schema }) => aboutOf(schema), shrinks: true },
];

/** The inputs of a tool, one per line; the schema itself if it is not a plain list of properties. */
export function formatInputs(schema: JsonObject, layout: { colors: Colors; columns: number | null }): string {
  const members = membersOf(schema);
  if (members === null) return indent(JSON.stringify(schema, null, 2));
  if (members.length === 0) return indent('none');
  const columns = layout.columns === null ? null : layout.columns - 2;
  return indent(formatTable(COLUMNS, members, { ...layout, columns }).join('\n'));
}

/** An example with the required inputs only. */
export const exampleOf = (schema: JsonObject): JsonObject =>
  Object.fromEntries(
    (membersOf(schema) ?? []).flatMap((member) => (member.required ? [[member.name, sampleOf(member.schema)]] : [])),
  );

function membersOf({ properties, required }: JsonObject): Member[] | null {
  if (!isObject(properties)) return null;
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    schema: isObject(schema) ? schema : {},
    required: needed.includes(name),
  }));
}

function typeOf({ type, enum: choices, items }: JsonObject): string {
  if (Array.isArray(choices))
    return [
      ...choices.slice(0, MAX_CHOICES).map((choice) => (typeof choice === 'string' ? choice : JSON.stringify(choice))),
      ...(choices.length > MAX_CHOICES ? ['…'] : []),
    ].join(' | ');
  if (type === 'array') return isObject(items) ? `list of ${typeOf(items)}` : 'list';
  if (Array.isArray(type)) return type.join(' | ');
  return typeof type === 'string' ? type : 'any';
}

const aboutOf = ({ description, default: preset }: JsonObject): string =>
  [
    typeof description === 'string' ? description : '',
    preset === undefined ? '' : `(${JSON.stringify(preset)} by default)`,
  ]
    .join(' ')
    .trim();

function sampleOf({ type, enum: choices, default: preset }: JsonObject): Json {
  if (preset !== undefined) return preset;
  if (Array.isArray(choices)) return choices[0] ?? null;
  switch (type) {
    case 'integer':
    case 'number':
      return 1;
    case 'boolean':
      return true;
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return '…';
  }
}
