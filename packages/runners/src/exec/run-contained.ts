import { basename } from 'node:path';
import type { RunOutcome } from '../runner.js';
import { captureOutput } from './capture-output.js';
import { endStragglers } from './end-stragglers.js';
import { execOutcome } from './exec-outcome.js';
import type { ExecRun } from './exec-run.js';
import { type Found, findProgram } from './find-program.js';
import { grantNetwork, type NetworkAccess } from './network-access.js';
import { refused } from './refused.js';
import { leftToSet, resourcesFor } from './resources-for.js';
import { runCommand } from './run-command.js';
import { runInTerminal } from './run-in-terminal.js';
import { missingProgram, spawnFailure } from './spawn-failure.js';
import { startsAShell } from './starts-a-shell.js';
import { startsAnother } from './starts-another.js';
import { environmentOf } from './tool-environment.js';
import { withTraces } from './with-traces.js';

/** One run in its sandbox, from the program's name to what it left behind. */
export const runContained = async (run: ExecRun): Promise<RunOutcome> => {
  const { program, call, path } = run;
  const found = findProgram(program.file, run);
  if (typeof found === 'string') return missingProgram(program.file, found, path);
  const too_much = call.limits.shell === true ? null : whyTooMuch(run, found);
  if (too_much !== null) return refused('SHELL_NOT_GRANTED', `${too_much}, which the policy does not grant`);
  const network = await grantNetwork(run);
  try {
    const outcome = await start(run, found, network);
    if (run.mark !== null) await endStragglers(run.mark);
    return await withTraces(outcome, run, network);
  } finally {
    await network?.close();
  }
};

/** Without a shell being granted: what it would come to. */
const whyTooMuch = ({ program: { file, args }, call }: ExecRun, found: Found): string | null => {
  if (startsAShell({ ...found, file, args })) return `${file} is a shell or leads to one`;
  // Other tools have their arguments checked one by one, against those that are their author's own.
  const another = call.descriptor.tool_id === 'shell.run' ? startsAnother(file, args) : null;
  return another && `with ${JSON.stringify(another.slice(0, 60))} ${file} starts another program`;
};

const start = async (run: ExecRun, found: Found, network: NetworkAccess | null): Promise<RunOutcome> => {
  const { host, sandbox, program, secrets, call } = run;
  const name = basename(program.file) || program.file;
  const limits = resourcesFor(run);
  const [file = '', ...args] = [...(network?.command ?? []), found.file, ...program.args];
  const launch = sandbox.launch({
    file,
    args,
    env: environmentOf(run),
    secret_env: secrets.env,
    work: run.work,
    mounts: [...(run.tools ? [run.tools] : []), ...(found.mount ? [found.mount] : []), ...(network?.mounts ?? [])],
    loopback: network !== null,
    network: program.tty || network !== null ? 'own' : 'of_shell',
    limits: program.tty ? limits : leftToSet(run, limits),
    tty: program.tty,
  });
  const flood = new AbortController();
  const stdout = captureOutput('stdout', call, () => flood.abort());
  const stderr = captureOutput('stderr', call, () => flood.abort());
  const running = {
    sandbox,
    limits,
    tenant: call.tenant,
    stdin: secrets.stdin,
    stdout,
    stderr,
    signal: call.signal,
    flood: flood.signal,
    guard: host.guard,
    cgroups: host.cgroups,
    launcher: host.launcher,
  };
  const { ending, tree } = await (program.tty ? runInTerminal : runCommand)(launch, running);
  if (ending.kind === 'not_started') return spawnFailure(name, ending.code, ending.message);
  const flooded = flood.signal.aborted;
  const outcome = execOutcome({
    name,
    flooded,
    output: program.output,
    ending,
    out_of_memory: tree?.out_of_memory ?? false,
    stdout: stdout.end(),
    stderr: stderr.end(),
  });
  // Where the bridge to the network runs beside the tool, the count is not the tool's.
  const processes = network === null ? (tree?.processes ?? null) : null;
  return processes === null ? outcome : { ...outcome, facts: { observed: { processes } } };
};
