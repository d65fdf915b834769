import { basename } from 'node:path';
import type { JsonObject } from '@capstan/contracts';
import type { Action, SlashCommand } from './commands-file.js';

/** An action that is complete: it has a runner. */
export type RunnableAction = Action & { runner: string };

/** The actions of a slash command, however it was written. */
export function actionsOf(command: SlashCommand): (RunnableAction | Action)[] {
  if (command.entrypoint !== undefined) return [fromScript(command, command.entrypoint)];
  const actions = command.actions ?? command.maps_to?.actions ?? [];
  return actions.map((action) => ({ ...action, runner: action.runner ?? command.runner }));
}

export const isRunnable = (action: Action): action is RunnableAction => action.runner !== undefined;

/** A command that is one script, taking its arguments in order. */
function fromScript(command: SlashCommand, entrypoint: string): RunnableAction {
  const args = command.args ?? [];
  const properties: JsonObject = Object.fromEntries(
    args.map(({ name, description }) => [name, { type: 'string', ...(description ? { description } : {}) }]),
  );
  return {
    id: command.name.slice(1),
    description: command.description ?? command.summary ?? '',
    runner: `exec.${basename(entrypoint)}`,
    argv: args.map(({ name }) => `{{${name}}}`),
    input_schema: {
      type: 'object',
      properties,
      required: args.flatMap(({ name, required }) => (required ? [name] : [])),
      additionalProperties: false,
    },
    output: 'text',
    env: [],
  };
}
