import type { ExecOnce, ExecutableRule } from '@capstan/contracts';
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
/** True if the program is known to start others. Programs that are neither plain nor starters are unknown. */
export const isStarter = (program: string): boolean => STARTERS.has(program) || SETS.has(program);

/** True if the first argument of the program is code, and the rest are arguments of that code. */
export const isInterpreter = (program: string): boolean => SETS.get(program)?.interprets ?? false;

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
