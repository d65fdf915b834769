import { isObject, type JsonObject } from '@capstan/contracts';
import { actionsOf } from '../extension/actions-of.js';
import { type SlashCommand, textOf } from '../extension/commands-file.js';

/** Help for a command, as text. */
export function commandHelp(command: SlashCommand, schemaOf: (action_id: string) => JsonObject | undefined): string {
  const actions = actionsOf(command).map(({ id, description }) => ({
    call: callOf(command, id, schemaOf(id)),
    description,
  }));
  const width = Math.min(40, Math.max(0, ...actions.map(({ call }) => call.length)));
  const examples = (command.examples ?? []).map((example) => `  ${textOf(example)}`);
  return [
    `${command.name}: ${command.summary ?? command.description ?? 'no description'}`,
    ...(command.summary && command.description ? [command.description] : []),
    '',
    ...actions.map(({ call, description }) => `  ${call.padEnd(width)}  ${description}`.trimEnd()),
    ...(examples.length > 0 ? ['', 'Examples:', ...examples] : []),
  ].join('\n');
}

export const allHelp = (commands: { command: SlashCommand; extension: string }[]): string =>
  commands.length === 0
    ? 'No extension with commands is installed. Add one with `capstan extension add <folder>`.'
    : [
        'Commands:',
        '',
        ...commands.map(({ command, extension }) =>
          `  ${command.name.padEnd(16)}  ${command.summary ?? command.description ?? ''}  (${extension})`.trimEnd(),
        ),
        '',
        'A command alone, or with help, says what it can do.',
      ].join('\n');

export const isAlone = (command: SlashCommand): boolean => actionsOf(command).length === 1;

/** The usage line of an action. */
export const callOf = (command: SlashCommand, action_id: string, schema: JsonObject | undefined): string =>
  [command.name, ...(isAlone(command) ? [] : [action_id]), usageOf(schema)].filter(Boolean).join(' ');

/** `<url> [--header <text>]`: required inputs in order, then the flags. */
function usageOf(schema: JsonObject | undefined): string {
  const properties = isObject(schema?.properties) ? schema.properties : {};
  const required = Array.isArray(schema?.required) ? schema.required : [];
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  return [...required.map((name) => `<${String(name)}>`), ...optional.map((name) => `[--${name}]`)].join(' ');
}
