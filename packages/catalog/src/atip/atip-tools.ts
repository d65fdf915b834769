import type { Binding, Descriptor, Effects, SideEffect } from '@capstan/contracts';
import { type EffectsDeclaration, timeoutOf, toDeclaredEffects } from '../effects/effects-declaration.js';
import { mergeEffects, undeclaredEffects } from '../effects/merge-effects.js';
import { inferDanger } from '../infer/infer-danger.js';
import { type Clue, cluesInWords } from '../infer/words.js';
import type { AtipCommand, AtipDocument, AtipOption } from './atip-document.js';
import { atipParameters } from './atip-parameters.js';

/** A command and its path from the executable. The root has an empty path. */
type Placed = { path: string[]; command: AtipCommand; inherited: AtipOption[] };

/** Every command of the document as a tool, including groups and the executable itself, because all of them can be run. */
export function atipTools(document: AtipDocument): Descriptor[] {
  const placed = [...commandsOf(document)];
  const names = flattenedNames(
    document.name,
    placed.map(({ path }) => path),
  );
  return placed.map((each, at) => toDescriptor(document, each, names[at] ?? document.name));
}

export const atipToolId = (tool: string, path: readonly string[]): string => `atip:${tool}:${path.join('.') || '.'}`;

function* commandsOf({ commands = {}, description, globalOptions = [] }: AtipDocument): Generator<Placed> {
  const root: Placed = { path: [], command: { description }, inherited: globalOptions };
  // The root is the command without a name. If there is none, it is the executable without arguments.
  if (!Object.hasOwn(commands, '')) yield root;
  yield* walk(commands, root);
}

/**
 * Commands inherit the options of their group, and its effects if they declare none. Declared effects are not merged with
 * the group's: that a group can delete does not make its list command destructive.
 */
function* walk(commands: Record<string, AtipCommand>, group: Placed): Generator<Placed> {
  const inherited = [...(group.command.options ?? []), ...group.inherited];
  for (const [name, own] of Object.entries(commands)) {
    const path = name === '' ? group.path : [...group.path, ...name.split(/\s+/).filter(Boolean)];
    const command = { ...own, effects: own.effects ?? group.command.effects };
    const placed: Placed = { path, command, inherited };
    yield placed;
    if (own.commands) yield* walk(own.commands, placed);
  }
}

/**
 * `gh_pr_create`. A name cannot be split again (`a_b` under `x` and `b` under `x_a` are both `x_a_b`), so it is looked up,
 * and the second of two equal names gets a number.
 */
export function flattenedNames(tool: string, paths: readonly string[][]): string[] {
  const taken = new Set<string>();
  return paths.map((path) => {
    const name = [tool, ...path].join('_').replace(/[^A-Za-z0-9_-]/g, '_');
    let unique = name;
    for (let number = 2; taken.has(unique); number += 1) unique = `${name}_${number}`;
    taken.add(unique);
    return unique;
  });
}

function toDescriptor(document: AtipDocument, { path, command, inherited }: Placed, name: string): Descriptor {
  const levels = [document.effects, command.effects].flatMap((effects) => effects ?? []);
  const declared = levels.map(toDeclaredEffects);
  const answering = answeringFlag(levels, [...(command.options ?? []), ...inherited]);
  const merged = mergeEffects(...declared);
  const effects = answering ? { ...merged, interactive: false } : merged;
  const words = cluesInWords({ name: path.join(' '), description: command.description });
  const danger = inferDanger({ side_effects: sideEffectsOf(effects, levels) }, [
    ...cluesInEffects(effects, levels),
    // Fully declared effects are better evidence than a verb.
    ...(undeclaredEffects(...declared).length === 0 ? words.filter(({ weak }) => !weak) : words),
  ]);
  const missing = undeclaredEffects(...declared);
  const asked = ({ name }: AtipOption) => name !== answering?.name;
  const { parameters, input_schema } = atipParameters(
    { ...command, options: command.options?.filter(asked) },
    inherited.filter(asked),
    effects.interactive,
  );
  const binding: Binding = {
    ...{ kind: 'atip', executable: document.name, path, parameters },
    ...(answering ? { always: [answering.flag] } : {}),
  };
  const timeout_ms = levels.map(timeoutOf).findLast((each) => each !== undefined);
  const trust = document.trust?.source;
  return {
    tool_id: atipToolId(document.name, path),
    name,
    description: command.description,
    source: 'atip',
    origin: document.name,
    runner: 'exec',
    binding,
    input_schema,
    risk: danger.risk,
    side_effects: danger.side_effects,
    effects,
    trust: trust ?? 'inferred',
    inferred: [
      ...danger.inferred,
      ...(missing.length > 0 ? [{ field: 'effects', why: `not declared, so dangerous: ${missing.join(', ')}` }] : []),
      ...(trust === undefined ? [{ field: 'trust', why: 'inferred: the document has no trust block' }] : []),
    ],
    ...(timeout_ms === undefined ? {} : { timeout_ms }),
  };
}

const ANSWERS =
  /^--(yes|assume-yes|non-interactive|no-interactive|no-input|no-prompts?|no-confirm|skip-confirmation|auto-approve|batch)$/;

/** A command that only asks for confirmation is run with the flag that gives it, if the document has one. */
function answeringFlag(levels: EffectsDeclaration[], options: AtipOption[]): { name: string; flag: string } | null {
  const interactive = levels.flatMap((effects) => effects.interactive ?? []);
  const prompts = interactive.some((each) => each.prompts === true);
  const reads = interactive.some(({ stdin, tty }) => stdin === 'required' || stdin === 'password' || tty === true);
  if (!prompts || reads) return null;
  for (const { name, type, flags } of options) {
    const flag = type === 'boolean' ? flags.find((each) => ANSWERS.test(each)) : undefined;
    if (flag !== undefined) return { name, flag };
  }
  return null;
}

function sideEffectsOf(effects: Effects, levels: EffectsDeclaration[]): SideEffect[] {
  const all: [SideEffect, boolean][] = [
    ['fs.read', effects.filesystem.read],
    ['fs.write', effects.filesystem.write],
    ['fs.delete', effects.filesystem.delete],
    ['network.http', effects.network],
    ['system.exec', effects.subprocess],
    // Only if declared: undeclared costs do not make a tool a payment.
    ['payments', levels.some(({ cost }) => cost?.billable === true)],
  ];
  return all.flatMap(([side_effect, has]) => (has ? [side_effect] : []));
}

/** The risk class of declared effects: the more of them are harmless, the lower. */
function cluesInEffects(effects: Effects, levels: EffectsDeclaration[]): Clue[] {
  const clue = (risk: Clue['risk'], why: string): Clue => ({ risk, side_effect: null, why });
  const clues: Clue[] = [];
  if (levels.some(({ cost }) => cost?.billable === true)) clues.push(clue('CRITICAL', 'it is billable'));
  if (effects.destructive) clues.push(clue('HIGH', 'it is destructive'));
  if (levels.some(({ filesystem }) => filesystem?.delete === true)) clues.push(clue('HIGH', 'it deletes files'));
  if (effects.network && !effects.reversible)
    clues.push(clue('HIGH', 'it changes something over the network, for good'));
  return clues;
}
