import type { ToolConstraints } from '@capstan/contracts';
import { type Check, refuse } from './constraint.js';
import { commandIn } from './read-inputs.js';

/**
 * Directories in which a program that is allowed by its name may also be called by its path. Anywhere else, anyone may have put a program of that
 * name.
 */
const SYSTEM: ReadonlySet<string> = new Set(['/bin', '/usr/bin', '/usr/local/bin', '/sbin', '/usr/sbin']);

/** Tokens that `shell.run` denies unless its entry allows them. */
const DENIED_TOKENS = ['sudo', 'su', 'rm -rf', 'mkfs', 'dd', '> /dev', 'chmod 777', 'curl | sh', 'wget | sh'];

export function checkCommand(constraints: ToolConstraints, { required }: { required: boolean }): Check | null {
  const allow = allowedBy(constraints) ?? (required ? [] : null);
  const deny = constraints.deny_tokens ?? (required ? DENIED_TOKENS : []);
  if (!allow && deny.length === 0) return null;
  return ({ descriptor, inputs }) => {
    const command = commandIn(descriptor, inputs);
    if (command === null) return required ? refuse('cmd_must_be_list', 'cmd has to be a list of texts') : null;
    const [executable = ''] = command;
    if (required && executable === '') return refuse('cmd_empty', 'cmd is empty');
    if (allow?.length === 0) return refuse('allow_executables=[]', 'no executable is allowed');
    if (allow && !isAllowed(executable, allow))
      return refuse('allow_executables', `${executable} is not in allow_executables (${allow.join(', ')})`);
    const line = command.join(' ').replace(/\s+/g, ' ').toLowerCase();
    const token = deny.find((each) => hasWord(line, each.toLowerCase()));
    return token === undefined ? null : refuse(`deny_tokens[${token}]`, `${JSON.stringify(token)} is not allowed`);
  };
}

/** A program with rules for its arguments counts as allowed. */
function allowedBy({ allow_executables, executables }: ToolConstraints): string[] | undefined {
  return executables ? [...(allow_executables ?? []), ...Object.keys(executables)] : allow_executables;
}

function isAllowed(executable: string, allow: readonly string[]): boolean {
  if (allow.includes(executable)) return true;
  const slash = executable.lastIndexOf('/');
  return slash > 0 && SYSTEM.has(executable.slice(0, slash)) && allow.includes(executable.slice(slash + 1));
}

/** Matches whole words only: `su` does not match in `capsule`, but `|` matches in `a|b`. */
function hasWord(line: string, token: string): boolean {
  const [first, last] = [isWordAt(token, 0), isWordAt(token, token.length - 1)];
  for (let at = line.indexOf(token); at >= 0; at = line.indexOf(token, at + 1))
    if (!(first && isWordAt(line, at - 1)) && !(last && isWordAt(line, at + token.length))) return true;
  return false;
}

const isWordAt = (line: string, at: number) => /^[a-z0-9]$/.test(line[at] ?? '');
