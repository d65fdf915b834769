import { basename } from 'node:path';
import type { RunOutcome } from '../runner.js';
import { captureOutput } from './capture-output.js';
import { type Excess, execOutcome } from './exec-outcome.js';
import type { ExecRun } from './exec-run.js';
import { type Found, findProgram } from './find-program.js';
import { judgeProgram } from './judge-program.js';
import { grantNetwork, type NetworkAccess } from './network-access.js';
import { refused } from './refused.js';
import { leftToSet, resourcesFor } from './resources-for.js';
import { runCommand } from './run-command.js';
import { runInTerminal } from './run-in-terminal.js';
import { missingProgram, spawnFailure } from './spawn-failure.js';
import { environmentOf } from './tool-environment.js';
import { watchSize } from './watch-size.js';
import { withTraces } from './with-traces.js';

/** One run in its sandbox, from the program's name to what it left behind. */
export const runContained = async (run: ExecRun): Promise<RunOutcome> => {
  const { program, path } = run;
  const found = findProgram(program.file, run);
  if (typeof found === 'string') return missingProgram(program.file, found, path);
  const judged = judgeProgram(run, found);
  if ('success' in judged) return judged;
  const network = await grantNetwork(run);
  const { features, enforces_exec_once } = run.sandbox;
  // Where the bridge to the network starts the tool, the tool is not the first program.
  const exec_once = judged.exec_once !== null && network === null && enforces_exec_once;
  try {
    if (judged.exec_once === 'required' && !exec_once)
      return refused('SANDBOX_UNAVAILABLE', cannotEnforce(program.file));
    const outcome = await start(run, found, exec_once, network);
    return await withTraces(outcome, run, network, exec_once ? [...features, 'exec_once'] : features);
  } finally {
    await network?.close();
  }
};

/** With these arguments nothing but the kernel keeps the program from starting others. */
const cannotEnforce = (file: string): string =>
  `${file} may start no other program (exec_once), and this worker's sandbox cannot enforce that for this run: it needs seccomp, and ` +
  'a run without network';

const start = async (
  run: ExecRun,
  found: Found,
  exec_once: boolean,
  network: NetworkAccess | null,
): Promise<RunOutcome> => {
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
    temporary: run.temporary,
    loopback: network !== null,
    network: program.tty || network !== null ? 'own' : 'of_shell',
    sockets: network === null ? 'unix' : 'inet',
    limits: program.tty ? limits : leftToSet(run, limits),
    tty: program.tty,
    exec_once,
  });
  const excess = new AbortController();
  let stopped: Excess | null = null;
  const stop = (why: Excess) => {
    stopped ??= why;
    excess.abort();
  };
  const stdout = captureOutput('stdout', call, () => stop({ kind: 'output' }));
  const stderr = captureOutput('stderr', call, () => stop({ kind: 'output' }));
  const directories = [run.work.source, ...(run.temporary === null ? [] : [run.temporary])];
  const size = watchSize(directories, limits.directory_bytes, (bytes) => stop({ kind: 'directory', bytes }));
  const running = {
    sandbox,
    limits,
    tenant: call.tenant,
    stdin: secrets.stdin,
    stdout,
    stderr,
    signal: call.signal,
    excess: excess.signal,
    onStart: (starter: number) => size.follow(starter),
    guard: host.guard,
    cgroups: host.cgroups,
    launcher: host.launcher,
  };
  const { ending, tree } = await (program.tty ? runInTerminal : runCommand)(launch, running).finally(size.stop);
  if (ending.kind === 'not_started') return spawnFailure(name, ending.code, ending.message);
  const outcome = execOutcome({
    name,
    stopped,
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
