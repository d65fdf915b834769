import { Failure } from '@capstan/contracts';
import { fitsTerminal, MAX_LINE, requireSandbox, sandboxNeeds } from '@capstan/sandbox';
import type { Call, RunOutcome } from '../runner.js';
import { collect } from './collect/collect.js';
import { contain } from './contain/contain.js';
import { findProgram } from './contain/find-program.js';
import { judgeProgram } from './contain/judge-program.js';
import { missingProgram } from './contain/missing-program.js';
import { grantNetwork } from './contain/network-access.js';
import type { ExecHost, ExecRun } from './exec-run.js';
import { launch } from './launch/launch.js';
import { withRun } from './prepare/open-run.js';
import type { Program } from './prepare/program.js';
import { resolveSecrets } from './prepare/resolve-secrets.js';
import { toProgram } from './prepare/to-program.js';
import { invalid, refused } from './refused.js';

/** One call from its inputs to its outcome: prepare, contain, launch, collect. Each stage has a folder. */
export const runCall = async (openHost: () => Promise<ExecHost>, call: Call): Promise<RunOutcome> => {
  const program = toProgram(call);
  if ('success' in program) return program;
  if (call.descriptor.effects.interactive && !program.tty) return interactive(program);
  try {
    const host = await openHost();
    const needs = sandboxNeeds(call.limits, call.descriptor.risk);
    const sandbox = requireSandbox(host.containment.sandboxFor(call.tenant), needs);
    const secrets = await resolveSecrets(program, call, sandbox);
    if ('success' in secrets) return secrets;
    if (program.tty && !fitsTerminal(secrets.stdin ?? ''))
      return invalid(`a line of stdin is longer than a terminal takes (${MAX_LINE} bytes); pass it without tty`);
    if (call.signal.aborted) return refused('CANCELED', 'stopped before it began');
    return await withRun(host, sandbox, { program, secrets, call }, runPrepared);
  } catch (error) {
    if (error instanceof Failure) return { ...refused(error.kind, error.message), retryable: error.retryable };
    throw error;
  }
};

const runPrepared = async (run: ExecRun): Promise<RunOutcome> => {
  const found = findProgram(run.program.file, run);
  if (typeof found === 'string') return missingProgram(run.program.file, found);
  const judged = judgeProgram(run, found);
  if ('success' in judged) return judged;
  const network = await grantNetwork(run);
  try {
    const contained = contain(run, found, judged, network);
    if ('success' in contained) return contained;
    const finished = await launch(run, contained);
    return await collect(run, contained, finished);
  } finally {
    await network?.close();
  }
};

const interactive = ({ file }: Program) =>
  refused(
    'INTERACTIVE_NOT_SUPPORTED',
    `${file} prompts for input while it runs, and there is no terminal to answer it`,
  );
