import { type Command, isDestructive, judgeCommand, stricter, suggestExecutable } from '@capstan/argv';
import type { Limits } from '@capstan/contracts';
import type { ToolFailure } from '../../runner.js';
import type { ExecRun } from '../exec-run.js';
import { refused } from '../refused.js';
import type { Found } from './find-program.js';
import { isShell } from './is-shell.js';

/** Whether the kernel should or must prevent an allowed program from starting another one. */
export type Judged = { exec_once: Limits['exec_once'] | null };

/**
 * The last check of a program before it starts, with its final arguments. The arguments of `shell.run` were checked when the call was
 * decided; those that a tool builds from its inputs are known only here.
 */
export const judgeProgram = ({ program, call }: ExecRun, found: Found): Judged | ToolFailure => {
  const { shell = false, executables = [], exec_once = null } = call.limits;
  const { file, args, chosen_by } = program;
  if (!shell && isShell({ ...found, file }))
    return {
      ...refused('SHELL_NOT_GRANTED', `${file} is a shell or leads to one, which the policy does not grant`),
      rule: 'limits.shell',
    };
  if (chosen_by === 'nobody' || found.is_extension) return { exec_once };
  const command: Command = { file, real_file: found.real_file, args, chosen_by, literal: program.literal };
  const verdict = judgeCommand(command, executables, { shell });
  if (verdict.allowed) return { exec_once: stricter(exec_once, verdict.exec_once) };
  const { program: name, rule } = suggestExecutable(command);
  if (isDestructive(file, args))
    return { ...refused('ARGUMENTS_NOT_ALLOWED', verdict.reason), rule: `executables[${name}]` };
  const entry = JSON.stringify({ tools: { [call.descriptor.tool_id]: { executables: { [name]: rule } } } });
  return {
    ...refused('ARGUMENTS_NOT_ALLOWED', `${verdict.reason}. Add this to the policy, if it should be: ${entry}`),
    rule: `executables[${name}]`,
  };
};
