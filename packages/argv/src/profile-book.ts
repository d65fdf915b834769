import type { ExecOnce, ExecutableRule } from '@capstan/contracts';
import { isShellName } from './is-shell-name.js';
import { compileShape, type MatchShape } from './match-shape.js';
import type { ProfileSet } from './profile-set.js';
import { PLAIN, PROFILE_SETS, STARTERS } from './profiles.js';

export type CompiledProfile = {
  name: string;
  exec_once: Exclude<ExecOnce, true> | null;
  shapes: readonly MatchShape[];
};

const SETS: ReadonlyMap<string, ProfileSet> = new Map(
  PROFILE_SETS.flatMap((set) => set.executables.map((name) => [name, set] as const)),
);

/** The names of the built-in profiles of a program. */
export function profilesOf(program: string): string[] {
  const set = SETS.get(program);
  return Object.entries(set?.profiles ?? {})
    .filter(([, { only }]) => only?.includes(program) ?? true)
    .map(([name]) => name);
}

/** The profiles that apply if the policy names none. */
export const defaultProfilesOf = (program: string): string[] => {
  const known = profilesOf(program);
  return (SETS.get(program)?.default ?? []).filter((name) => known.includes(name));
};

/** The rule for a program that no policy names. */
export function defaultRuleOf(program: string): ExecutableRule {
  if (isPlain(program)) return { any: true, exec_once: 'preferred' };
  return { profiles: defaultProfilesOf(program) };
}

/** True if the program never starts another one, whatever its arguments are. */
export const isPlain = (program: string): boolean => PLAIN.has(program);
/** True if the program is known to start others, wherever it is. Programs that are neither plain nor starters are unknown. */
export const isStarter = (program: string): boolean =>
  namesOf(program).some((name) => STARTERS.has(name) || SETS.has(name) || LOADER.test(name) || isShellName(name));

/** True if the first argument of the program is code, and the rest are arguments of that code. */
export const isInterpreter = (program: string): boolean =>
  namesOf(program).some((name) => SETS.get(name)?.interprets ?? false);

/** Loaders and emulators start the program that is their first argument. */
const LOADER = /^(ld-|ld\.so|ld64\.so|qemu-)/;
const TRIPLET = /^(?:x86_64|i[3-6]86|aarch64|arm)[\w-]*-(?=[a-z])/;
const FLAVOR = /\.(?:tiny|basic|nox|gtk3?|athena|small|huge|traditional|openbsd|distrib|static|real|pl|exe)$/;
const VERSION = /[-.]?\d+(?:\.\d+)*[a-z]?$/;

/** The names under which a program may be known: /opt/bin/python3.11 is a python, vim.tiny a vim, and x86_64-linux-gnu-gcc-12 a gcc. */
function namesOf(program: string): string[] {
  const name = program.slice(program.lastIndexOf('/') + 1);
  const kind = name.replace(TRIPLET, '').replace(FLAVOR, '');
  return [name, kind, kind.replace(VERSION, '')];
}

const compiled = new Map<string, CompiledProfile>();

export function profileOf(program: string, name: string): CompiledProfile | null {
  const profile = profilesOf(program).includes(name) ? SETS.get(program)?.profiles[name] : undefined;
  if (!profile) return null;
  const key = `${program} ${name}`;
  const known = compiled.get(key);
  if (known) return known;
  const { before = [], exec_once = null } = profile;
  const shapes = profile.shapes.map((shape) =>
    compileShape(shape.command === undefined ? shape : { ...shape, before: [...before, ...(shape.before ?? [])] }),
  );
  const ready = { name, exec_once, shapes };
  compiled.set(key, ready);
  return ready;
}
