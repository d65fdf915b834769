import { createHash } from 'node:crypto';
import { type Descriptor, Failure, issueText, parseJson } from '@capstan/contracts';
import { readYaml } from '@capstan/expression';
import { hashJson } from '@capstan/integrity';
import type { z } from 'zod';
import { toEntry } from '../catalog-entry.js';
import { actionsOf, isRunnable } from './actions-of.js';
import { CommandsFile } from './commands-file.js';
import { type ActionContext, toDescriptor } from './extension-tools.js';
import { Manifest } from './manifest.js';
import { wrongPlaceholders } from './placeholders.js';
import { readRunner } from './read-runner.js';

/** An extension as received: its documents as text or already parsed. */
export type ExtensionSource = {
  manifest: unknown;
  commands: unknown;
  usage?: string | null | undefined;
  tools?: ReadonlyMap<string, Uint8Array> | undefined;
};

export type ExtensionFile = { name: string; sha256: string; content: Uint8Array };

/** A validated extension with its tools. */
export type Extension = {
  manifest: Manifest;
  commands: CommandsFile;
  usage: string | null;
  files: ExtensionFile[];
  tools_hash: string | null;
  descriptors: Descriptor[];
};

export type ExtensionError = { file: string; field: string; message: string };

const MANIFEST = 'manifest.json';
const COMMANDS = 'commands.yaml';
const MAX_USAGE = 200_000;
const MAX_ACTIONS = 500;
/** The path of a file below tools/: no part is hidden or leads out of it. */
const FILE_NAME = /^(?:[A-Za-z0-9_][A-Za-z0-9._+-]{0,99}(?:\/(?!$)|$)){1,8}$/;

/** Throws a Failure that lists every mistake with its file and place. */
export function parseExtension(source: ExtensionSource, native: ActionContext['native']): Extension {
  const manifest = read(Manifest, fromJson(source.manifest), MANIFEST);
  const commands = read(CommandsFile, commandsOf(source), COMMANDS);
  const usage = source.usage ?? null;
  if (usage !== null && usage.length > MAX_USAGE) throw wrong([at('docs/USAGE.md', '', `longer than ${MAX_USAGE}`)]);
  const files = toFiles(source.tools ?? new Map());
  const tools_hash =
    files.length === 0 ? null : hashJson(Object.fromEntries(files.map(({ name, sha256 }) => [name, sha256])));
  const descriptors = toDescriptors(commands, { manifest, tools_hash, native });
  return { manifest, commands, usage, files, tools_hash, descriptors };
}

function toDescriptors(commands: CommandsFile, context: ActionContext): Descriptor[] {
  const errors: ExtensionError[] = [];
  const descriptors = new Map<string, Descriptor>();
  for (const [at_command, command] of commands.slash_commands.entries()) {
    for (const [at_action, action] of actionsOf(command).entries()) {
      const field = `slash_commands.${at_command}.actions.${at_action}`;
      const runner = isRunnable(action) ? readRunner(action.runner) : null;
      if (!isRunnable(action)) errors.push(at(COMMANDS, `${field}.runner`, `${action.id} names no runner`));
      else if (!runner)
        errors.push(at(COMMANDS, `${field}.runner`, `there is no runner ${JSON.stringify(action.runner)}`));
      else {
        const descriptor = toDescriptor(action, runner, context);
        if (descriptors.has(action.id)) errors.push(at(COMMANDS, `${field}.id`, `${action.id} is there twice`));
        const unfilled = wrongPlaceholders(action, descriptor.input_schema);
        errors.push(...wrongSchema(descriptor, field), ...unfilled.map((reason) => at(COMMANDS, field, reason)));
        descriptors.set(action.id, descriptor);
      }
    }
    const { default_action } = command;
    if (default_action !== undefined && !actionsOf(command).some(({ id }) => id === default_action))
      errors.push(at(COMMANDS, `slash_commands.${at_command}.default_action`, `there is no action ${default_action}`));
  }
  if (errors.length > 0) throw wrong(errors);
  if (descriptors.size === 0) throw wrong([at(COMMANDS, 'slash_commands', 'brings no action')]);
  if (descriptors.size > MAX_ACTIONS) throw wrong([at(COMMANDS, 'slash_commands', `more than ${MAX_ACTIONS} actions`)]);
  return [...descriptors.values()];
}

function wrongSchema(descriptor: Descriptor, field: string): ExtensionError[] {
  const entry = toEntry(descriptor);
  const reason = entry.unavailable();
  const unusable = entry.checkOutput(null).find(({ message }) => message.startsWith('cannot be checked'));
  return [
    ...(reason === null ? [] : [at(COMMANDS, `${field}.input_schema`, reason)]),
    ...(unusable ? [at(COMMANDS, `${field}.output_schema`, unusable.message)] : []),
  ];
}

function toFiles(tools: ReadonlyMap<string, Uint8Array>): ExtensionFile[] {
  return [...tools]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, content]) => {
      if (!FILE_NAME.test(name)) throw wrong([at('tools/', name, 'is not the name of a file of an extension')]);
      if (foldersOf(name).some((folder) => tools.has(folder)))
        throw wrong([at('tools/', name, 'lies in a folder that is a file as well')]);
      return { name, sha256: createHash('sha256').update(content).digest('hex'), content };
    });
}

/** `a/b` of `a/b/c`, and `a`. */
const foldersOf = (name: string): string[] =>
  name.split('/').flatMap((_, depth, parts) => (depth === 0 ? [] : parts.slice(0, depth).join('/')));

function read<Schema extends z.ZodType>(schema: Schema, value: unknown, file: string): z.infer<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw wrong(
    parsed.error.issues.flatMap((issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => at(file, [...issue.path, key].join('.'), 'is not a known field'))
        : [at(file, issue.path.join('.'), issueText(issue))],
    ),
  );
}

function fromJson(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return parseJson(value);
  } catch (error) {
    throw wrong([at(MANIFEST, '', error instanceof Error ? error.message : String(error))]);
  }
}

const commandsOf = ({ commands }: ExtensionSource): unknown =>
  typeof commands === 'string' ? readCommands(commands) : commands;

/** Parses the YAML of commands. `parseExtension` validates it. */
export function readCommands(text: string): unknown {
  const read = readYaml(text);
  if (read.errors.length === 0) return read.value;
  throw wrong(read.errors.map(({ message, line, column }) => at(COMMANDS, placeOf(line, column), message)));
}

const placeOf = (line?: number, column?: number): string =>
  line === undefined ? '' : `line ${line}, column ${column}`;

const at = (file: string, field: string, message: string): ExtensionError => ({ file, field, message });

function wrong(errors: ExtensionError[]): Failure {
  const first = errors[0];
  return new Failure('INVALID_REQUEST', {
    detail: first
      ? `${first.file}${first.field ? `: ${first.field}` : ''}: ${first.message}`
      : 'the extension is not valid',
    suggestion: 'Correct the places named in errors.',
    context: { errors },
  });
}
