import type { ExecOnce, ExecutableRule, Executables } from '@capstan/contracts';
import { compileShape, type MatchShape } from './match-shape.js';
import {
  type CompiledProfile,
  defaultProfilesOf,
  isInterpreter,
  isPlain,
  isStarter,
  profileOf,
} from './profile-book.js';
import { quote } from './read-arguments.js';

export type Command = {
  file: string;
  /** The file that the name leads to, once that is known: `editor` may be a link to vim. */
  real_file?: string;
  args: readonly string[];
  /**
   * Who chose the arguments: the caller, or the author of a tool that takes some values as inputs. The author of a tool may use an
   * unknown program, unless it is known to start others.
   */
  chosen_by: 'caller' | 'author';
  /** The number of leading arguments that the author wrote. */
  literal?: number;
};

/** `exec_once`: whether the kernel should or must prevent the program from starting another one. */
export type CommandVerdict =
  | { allowed: true; exec_once: Exclude<ExecOnce, true> | null }
  | { allowed: false; program: string; reason: string };

const SYSTEM: ReadonlySet<string> = new Set(['/bin', '/usr/bin', '/usr/local/bin', '/sbin', '/usr/sbin']);

/** The name of a program in rules: its file name if it is in a system directory, otherwise its path, because anyone may have put it there. */
export function programOf(file: string): string {
  const slash = file.lastIndexOf('/');
  return slash > 0 && SYSTEM.has(file.slice(0, slash)) ? file.slice(slash + 1) : file;
}

/**
 * Decides whether a command line may run. Every list that names the program must allow it. If none names it, a plain program may have
 * any arguments, one with built-in profiles those of its default profiles, and all others none. `shell` allows those as well.
 */
export function judgeCommand(
  { file, real_file = file, args, chosen_by, literal = 0 }: Command,
  lists: readonly Executables[],
  { shell }: { shell: boolean },
): CommandVerdict {
  const program = programOf(file);
  const rules = lists.flatMap((list) => (Object.hasOwn(list, program) ? (list[program] ?? []) : []));
  const starter = isStarter(program) || isStarter(programOf(real_file));
  if (rules.length > 0) return judgeByRules(program, args, rules, shell || !starter);
  if (shell) return { allowed: true, exec_once: null };
  if (isPlain(program)) return { allowed: true, exec_once: 'preferred' };
  if (!starter && chosen_by === 'author') return { allowed: true, exec_once: null };
  if (chosen_by === 'author' && isInterpreter(program) && args.slice(0, literal).some(isCode))
    return { allowed: true, exec_once: null };
  const defaults = defaultProfilesOf(program).flatMap((name) => profileOf(program, name) ?? []);
  if (defaults.length > 0) return judgeByProfiles(program, args, defaults);
  const why = starter ? 'can start other programs' : 'may start other programs';
  return { allowed: false, program, reason: `${quote(program)} ${why}, and the policy names no arguments for it` };
}

function judgeByRules(
  program: string,
  args: readonly string[],
  rules: readonly ExecutableRule[],
  any: boolean,
): CommandVerdict {
  let exec_once: Exclude<ExecOnce, true> | null = null;
  for (const rule of rules) {
    const verdict = judgeByRule(program, args, rule, any);
    if (!verdict.allowed) return verdict;
    exec_once = stricter(exec_once, verdict.exec_once);
  }
  return { allowed: true, exec_once };
}

/** `any`: whether the program may have any arguments, if the rule allows that. */
function judgeByRule(program: string, args: readonly string[], rule: ExecutableRule, any: boolean): CommandVerdict {
  const asked = rule.exec_once === true ? 'required' : (rule.exec_once ?? null);
  if (rule.any) {
    // Any arguments of a program that can start others need `shell`, unless the kernel prevents it from starting any.
    if (any || asked === 'required') return { allowed: true, exec_once: asked };
    return {
      allowed: false,
      program,
      reason: `${quote(program)} can start other programs: name profiles or shapes, or exec_once: true`,
    };
  }
  const profiles = (rule.profiles ?? []).flatMap((name) => profileOf(program, name) ?? []);
  const own: CompiledProfile = { name: 'shapes', exec_once: null, shapes: shapesOf(rule) };
  const verdict = judgeByProfiles(program, args, [...profiles, own]);
  return verdict.allowed ? { allowed: true, exec_once: stricter(asked, verdict.exec_once) } : verdict;
}

/** Takes the first profile that fits. If none does, the closest one gives the reason. */
function judgeByProfiles(
  program: string,
  args: readonly string[],
  profiles: readonly CompiledProfile[],
): CommandVerdict {
  let nearest = { why: 'no arguments are allowed', read: -1 };
  let other_commands = false;
  for (const { exec_once, shapes } of profiles)
    for (const match of shapes) {
      const miss = match(args);
      if (!miss) return { allowed: true, exec_once };
      if (miss.read === 0) other_commands = true;
      if (miss.read > nearest.read) nearest = miss;
    }
  const [first] = args;
  // If other shapes begin with a command, a word at the start is a command, and a shape without one is no close match.
  const is_command = other_commands && first !== undefined && !first.startsWith('-');
  const near = is_command ? 2 : 1;
  const why =
    nearest.read < near && first !== undefined ? `nothing that begins with ${quote(first)} is allowed` : nearest.why;
  return { allowed: false, program, reason: `${program}: ${why}` };
}

const compiled = new WeakMap<ExecutableRule, readonly MatchShape[]>();

function shapesOf(rule: ExecutableRule): readonly MatchShape[] {
  const known = compiled.get(rule) ?? (rule.shapes ?? []).map(compileShape);
  compiled.set(rule, known);
  return known;
}

/** A script, or code after -c or -e. The arguments that follow belong to it. */
const isCode = (arg: string): boolean => !arg.startsWith('-');

type Asked = Exclude<ExecOnce, true> | null;
export const stricter = (one: Asked, other: Asked): Asked =>
  one === 'required' || other === 'required' ? 'required' : (one ?? other);
