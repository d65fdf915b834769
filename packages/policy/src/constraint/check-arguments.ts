import { judgeCommand, programOf, stricter } from '@capstan/argv';
import type { Executables, Limits } from '@capstan/contracts';
import type { Request } from '../request.js';
import { type Refusal, refuse } from './constraint.js';
import { commandIn } from './read-inputs.js';

/** The decision about a command line that the caller wrote: the limits that it runs under, or the reason why it may not run. */
export type Arguments = { limits: Limits } | { refusal: Refusal };

/** Checks the arguments of `shell.run`. The arguments of other tools are known only to the runner, which checks them in the same way. */
export function checkArguments({ descriptor, inputs }: Request, limits: Limits): Arguments {
  const command = descriptor.tool_id === 'shell.run' ? commandIn(descriptor, inputs) : null;
  const [file, ...args] = command ?? [];
  if (file === undefined) return { limits };
  const { executables = [], shell = false } = limits;
  const verdict = judgeCommand({ file, args, chosen_by: 'caller' }, executables, { shell });
  if (!verdict.allowed) return { refusal: refuse(`executables[${verdict.program}]`, verdict.reason) };
  const exec_once = stricter(limits.exec_once ?? null, verdict.exec_once);
  if (exec_once === null && executables.length === 0) return { limits };
  const { executables: _, ...rest } = limits;
  const own = rulesOf(executables, programOf(file));
  return {
    limits: { ...rest, ...(own.length > 0 ? { executables: own } : {}), ...(exec_once === null ? {} : { exec_once }) },
  };
}

/** Rules of other programs would only make the record longer. */
const rulesOf = (lists: readonly Executables[], program: string): Executables[] =>
  lists.flatMap((list) => {
    const rule = Object.hasOwn(list, program) ? list[program] : undefined;
    return rule ? [{ [program]: rule }] : [];
  });
