import { resolve } from 'node:path';
import type { Call, Runner, RunOutcome, ToolFailure } from '../runner.js';
import { buildCommand, type Environment } from './build-command.js';
import { captureOutput } from './capture-output.js';
import { execOutcome } from './exec-outcome.js';
import { createOrphanGuard } from './orphan-guard.js';
import { runCommand } from './run-command.js';
import { makeScratchDirectory, removeScratchDirectory } from './scratch-directory.js';
import { parseShellRunInputs, type ShellRunInputs } from './shell-run-inputs.js';
import { spawnFailure } from './spawn-failure.js';

export type ExecRunnerOptions = {
  /** Every run gets a fresh directory in here. */
  work_dir: string;
  /** Where PATH, HOME, USER, LANG, LC_ALL and TMPDIR of the tools come from; nothing else of it is passed on. */
  env?: Environment;
};

const DEFAULT_ENVIRONMENT = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };

/** Runs command-line tools: an argument list, never a shell. */
export const createExecRunner = ({ work_dir, env = DEFAULT_ENVIRONMENT }: ExecRunnerOptions): Runner => {
  const root = resolve(work_dir);
  const guard = createOrphanGuard(root);

  const runIn = async (cwd: string, inputs: ShellRunInputs, call: Call): Promise<RunOutcome> => {
    if (call.signal.aborted) return stopped;
    const command = buildCommand(inputs, { cwd, env });
    const stdout = captureOutput('stdout', call);
    const stderr = captureOutput('stderr', call);
    const ending = await runCommand(command, { stdout, stderr, signal: call.signal, guard });
    if (ending.kind === 'not_started') return spawnFailure(command, ending.code, ending.message);
    return execOutcome(command.name, ending, stdout.end(), stderr.end());
  };

  return {
    type: 'exec',
    run: async (call) => {
      if (call.descriptor.tool_id !== 'shell.run') return unknownTool(call.descriptor.tool_id);
      const inputs = parseShellRunInputs(call.inputs);
      if ('success' in inputs) return redactError(inputs, call);
      const cwd = await makeScratchDirectory(root);
      try {
        return redactError(await runIn(cwd, inputs, call), call);
      } finally {
        await removeScratchDirectory(cwd);
      }
    },
    close: () => guard.close(),
  };
};

/** A message may quote the command line, and a secret may stand there. */
const redactError = (outcome: RunOutcome, { redact }: Call): RunOutcome =>
  outcome.success ? outcome : { ...outcome, error: redact.text(outcome.error) };

const stopped: ToolFailure = { success: false, error: 'stopped before it began', kind: 'CANCELED', retryable: false };

const unknownTool = (tool_id: string): ToolFailure => ({
  success: false,
  error: `the exec runner has no tool ${tool_id}`,
  kind: 'UNKNOWN_TOOL',
  retryable: false,
});
