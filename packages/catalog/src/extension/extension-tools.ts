import {
  type Binding,
  type Descriptor,
  type Json,
  type JsonObject,
  NO_EFFECTS,
  type RunnerType,
} from '@capstan/contracts';
import { toDeclaredEffects } from '../effects/effects-declaration.js';
import { type DeclaredEffects, mergeEffects, undeclaredEffects } from '../effects/merge-effects.js';
import { inferDanger } from '../infer/infer-danger.js';
import { cluesInPermissions } from '../infer/permissions.js';
import { type Clue, cluesInWords } from '../infer/words.js';
import { inputSchemaOf } from './action-inputs.js';
import type { RunnableAction } from './actions-of.js';
import { type Manifest, PERMISSIONS, type Permission } from './manifest.js';
import type { NamedRunner } from './read-runner.js';

export type ActionContext = {
  manifest: Manifest;
  tools_hash: string | null;
  /** The native tool with that id, if any. An action that runs it has its inputs. */
  native(tool_id: string): Descriptor | undefined;
};

export const extensionToolId = (extension_id: string, action_id: string): string => `ext:${extension_id}:${action_id}`;

export function toDescriptor(action: RunnableAction, runner: NamedRunner, context: ActionContext): Descriptor {
  const { manifest } = context;
  const native = context.native(actionOf(runner));
  const asked = permissionsOf(action, manifest);
  const declared = [toDeclaredEffects(action.effects ?? {}), ...effectsOf(runner, native)];
  const danger = inferDanger({ risk: action.risk, side_effects: action.side_effects }, [
    ...cluesInWords({ name: action.id, description: action.description, input_schema: action.input_schema }),
    ...cluesOf(action, runner, native, asked),
  ]);
  const missing = undeclaredEffects(...declared);
  const { binding, runner: type } = bind(action, runner, context, asked);
  return {
    tool_id: extensionToolId(manifest.id, action.id),
    name: action.id,
    description: action.description || `${action.id} of ${manifest.name}`,
    source: 'extension',
    origin: manifest.id,
    runner: type,
    binding,
    input_schema: inputSchemaOf(action, runner, native?.input_schema),
    ...outputOf(action, runner, native),
    risk: danger.risk,
    side_effects: danger.side_effects,
    effects: mergeEffects(...declared),
    trust: 'org',
    inferred: [
      ...danger.inferred,
      ...(missing.length > 0 ? [{ field: 'effects', why: `not declared, so dangerous: ${missing.join(', ')}` }] : []),
      { field: 'trust', why: 'org: an extension that an admin installed' },
    ],
    ...(action.timeout_ms === undefined ? {} : { timeout_ms: action.timeout_ms }),
  };
}

/** A program returns its streams and the value parsed from them. The declared output schema is of the value. */
function outputOf(
  { output, output_schema }: RunnableAction,
  { type }: NamedRunner,
  native: Descriptor | undefined,
): Pick<Descriptor, 'output_schema'> {
  if (type !== 'exec') {
    const own = output_schema ?? native?.output_schema;
    return own ? { output_schema: own } : {};
  }
  if (output === 'text') return { output_schema: output_schema ?? streamsWith({}) };
  const { $defs, ...of_value } = output_schema ?? MADE_OF_STDOUT[output];
  return { output_schema: { ...streamsWith({ [output]: of_value }), ...($defs === undefined ? {} : { $defs }) } };
}

const STREAMS: JsonObject = { stdout: { type: 'string' }, stderr: { type: 'string' }, exit_code: { type: 'integer' } };
const MADE_OF_STDOUT: Record<'json' | 'lines', JsonObject> = {
  json: {},
  lines: { type: 'array', items: { type: 'string' } },
};

function streamsWith(more: JsonObject): JsonObject {
  const properties = { ...STREAMS, ...more };
  return { type: 'object', required: Object.keys(properties), properties };
}

/** The effects known besides the action's own declaration: those of a request, or of its native tool. */
function effectsOf(runner: NamedRunner, native: Descriptor | undefined): DeclaredEffects[] {
  if (runner.type === 'exec') return [];
  // Not those of `api.call`, which allows any method: an action has only its own.
  if (runner.type === 'api') return [{ network: true, subprocess: false, filesystem: NO_EFFECTS.filesystem }];
  return native ? [native.effects] : [];
}

function cluesOf(action: RunnableAction, runner: NamedRunner, native: Descriptor | undefined, asked: string[]): Clue[] {
  if (runner.type === 'exec') return [...cluesInPermissions(asked), ...unsaid(action)];
  if (runner.type === 'api') {
    const reads = runner.method === 'GET' || runner.method === 'HEAD';
    return [{ risk: reads ? 'MED' : 'HIGH', side_effect: 'network.http', why: 'it sends a request' }];
  }
  if (!native) return cluesInPermissions(asked);
  const why = `it is done by ${native.tool_id}`;
  return [
    { risk: native.risk, side_effect: null, why },
    ...native.side_effects.map((side_effect): Clue => ({ risk: 'LOW', side_effect, why })),
  ];
}

/** An action gets at most the permissions of its extension, minus those it declares not to need. */
function permissionsOf({ effects }: RunnableAction, { permissions_required }: Manifest): string[] {
  const writes = effects?.filesystem?.write !== false || effects.filesystem.delete === true;
  return permissions_required.filter(
    (permission) =>
      (permission !== 'network' || effects?.network !== false) && (permission !== 'filesystem.write' || writes),
  );
}

/** A program that declares no side effects may start others. */
const unsaid = ({ side_effects }: RunnableAction): Clue[] =>
  side_effects === undefined
    ? [{ risk: 'MED', side_effect: 'system.exec', why: 'it is a program, and says nothing of its side effects' }]
    : [];

const actionOf = (runner: NamedRunner): string => {
  if (runner.type === 'exec') return '';
  return runner.type === 'api' ? 'api.call' : runner.action;
};

function bind(
  action: RunnableAction,
  runner: NamedRunner,
  { manifest, tools_hash }: ActionContext,
  asked: string[],
): { binding: Binding; runner: RunnerType } {
  const extension_id = manifest.id;
  const preset = action.preset ?? {};
  if (runner.type === 'exec') {
    const binding: Binding = {
      kind: 'command',
      extension_id,
      tools_hash,
      executable: runner.executable,
      action: action.id,
      argv: action.argv ?? null,
      ...(action.stdin === undefined ? {} : { stdin: action.stdin }),
      output: action.output,
      env: action.env,
      permissions: asked.filter(isPermission),
    };
    return { binding, runner: 'exec' };
  }
  if (runner.type === 'api' && action.request) {
    const { body, url, headers, query } = action.request;
    const binding: Binding = {
      kind: 'request',
      extension_id,
      method: runner.method ?? 'GET',
      ...(url === undefined ? {} : { url }),
      ...(headers ? { headers } : {}),
      ...(query ? { query } : {}),
      ...(isJson(body) ? { body } : {}),
    };
    return { binding, runner: 'api' };
  }
  const fixed = runner.type === 'api' && runner.method !== null ? { ...preset, method: runner.method } : preset;
  const own = Object.keys(fixed).length > 0 ? { preset: fixed } : {};
  return { binding: { kind: 'action', extension_id, action: actionOf(runner), ...own }, runner: runner.type };
}

const isPermission = (name: string): name is Permission => PERMISSIONS.some((known) => known === name);

/** The value was parsed from JSON or YAML, so it is plain JSON. */
const isJson = (value: unknown): value is Json => value !== undefined;
