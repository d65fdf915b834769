import { judgeCommand, programOf, stricter } from '@capstan/argv';
import type { Executables, Limits } from '@capstan/contracts';
import type { Request } from '../request.js';
import { type Refusal, refuse } from './constraint.js';
import { commandIn } from './read-inputs.js';

/** What becomes of a command line that the caller has written: the limits that it runs under, or why it may not. */
export type Arguments = { limits: Limits } | { refusal: Refusal };

/** The arguments of `shell.run`. Those of other tools are known to the runner alone, which judges them in the same way. */
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

/** What is said of other programs would only make the record longer. */
const rulesOf = (lists: readonly Executables[], program: string): Executables[] =>
  lists.flatMap((list) => {
    const rule = Object.hasOwn(list, program) ? list[program] : undefined;
    return rule ? [{ [program]: rule }] : [];
  });
