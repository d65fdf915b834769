import type { JsonObject } from '@capstan/contracts';
import { actionsOf } from '../extension/actions-of.js';
import type { SlashCommand } from '../extension/commands-file.js';
import { extensionToolId } from '../extension/extension-tools.js';
import { similarTo } from '../search/similar-to.js';
import { fillInputs, typedInputs } from './fill-inputs.js';
import { allHelp, callOf, commandHelp, isAlone } from './help.js';
import { splitLine } from './split-line.js';

export type CommandExtension = { extension_id: string; name: string; enabled: boolean; commands: SlashCommand[] };

/** Looks up a tool for the router. */
export type CommandTools = (tool_id: string) => { input_schema: JsonObject; takes_typed: boolean } | undefined;

/** The meaning of a typed line. */
export type CommandRoute =
  | {
      kind: 'run';
      command: string;
      action: string;
      extension_id: string;
      tool_id: string;
      inputs: JsonObject;
      /** The usage line of the command. */
      usage: string;
    }
  | { kind: 'help'; command: string; text: string }
  | { kind: 'unknown'; message: string; similar: string[] }
  | { kind: 'disabled'; command: string; extension_id: string }
  | { kind: 'invalid'; message: string; usage?: string };

type Found = { extension: CommandExtension; command: SlashCommand };

/** Finds the tool and the inputs for a slash command. */
export function routeCommand(line: string, extensions: CommandExtension[], tools: CommandTools): CommandRoute {
  const split = splitLine(line.trim());
  if ('error' in split) return { kind: 'invalid', message: split.error };
  const [name = '', ...words] = split.words;
  if (!name.startsWith('/')) return { kind: 'invalid', message: 'a command begins with a slash, such as /help' };
  const all = extensions.flatMap((extension) => extension.commands.map((command) => ({ extension, command })));
  const found = all.find(({ command }) => command.name.toLowerCase() === name.toLowerCase());
  if (!found) return name === '/help' ? helpOnAll(all) : unknownCommand(name, all);
  if (!found.extension.enabled)
    return { kind: 'disabled', command: found.command.name, extension_id: found.extension.extension_id };
  return routeAction(found, words, tools);
}

const helpOnAll = (all: Found[]): CommandRoute => {
  const enabled = all.filter(({ extension }) => extension.enabled);
  const listed = enabled.map(({ command, extension }) => ({ command, extension: extension.extension_id }));
  return { kind: 'help', command: '/help', text: allHelp(listed) };
};

function unknownCommand(name: string, all: Found[]): CommandRoute {
  const similar = similarTo(name, ['/help', ...all.map(({ command }) => command.name)]);
  return { kind: 'unknown', message: `There is no command ${name}.`, similar };
}

function routeAction({ extension, command }: Found, words: string[], tools: CommandTools): CommandRoute {
  const { extension_id } = extension;
  const help = (): CommandRoute => ({
    kind: 'help',
    command: command.name,
    text: commandHelp(command, (id) => tools(extensionToolId(extension_id, id))?.input_schema),
  });
  const ids = actionsOf(command).map(({ id }) => id);
  const [first, ...others] = words;
  const named = ids.find((id) => id === first) ?? ids.find((id) => id.toLowerCase() === first?.toLowerCase());
  if (named === undefined && (first === 'help' || first === '--help')) return help();
  const fallback = command.default_action ?? (isAlone(command) ? ids[0] : undefined);
  const action = named ?? fallback;
  if (action === undefined) return first === undefined ? help() : unknownAction(command, first, ids);
  const rest = named === undefined ? words : others;
  if (rest.at(0) === '--help') return help();
  const tool_id = extensionToolId(extension_id, action);
  const tool = tools(tool_id);
  if (!tool) return { kind: 'unknown', message: `${tool_id} is not in the catalog.`, similar: [] };
  // A command that requires inputs but got none shows its help.
  if (rest.length === 0 && named === undefined && needsSomething(tool.input_schema)) return help();
  const filled = tool.takes_typed ? { inputs: typedInputs(rest) } : fillInputs(rest, tool.input_schema);
  const usage = callOf(command, action, tool.input_schema);
  if ('error' in filled) return { kind: 'invalid', message: `${command.name} ${action}: ${filled.error}`, usage };
  return { kind: 'run', command: command.name, action, extension_id, tool_id, inputs: filled.inputs, usage };
}

const needsSomething = ({ required }: JsonObject): boolean => Array.isArray(required) && required.length > 0;

const unknownAction = (command: SlashCommand, typed: string, ids: string[]): CommandRoute => ({
  kind: 'unknown',
  message: `${command.name} has no action ${JSON.stringify(typed)}; it has ${ids.join(', ')}.`,
  similar: similarTo(typed, ids).map((id) => `${command.name} ${id}`),
});
