import type { Launched } from '@capstan/sandbox';
import { type Capture, captureOutput } from '../collect/capture-output.js';
import type { Excess } from '../collect/exec-outcome.js';
import type { Contained } from '../contain/contain.js';
import type { ExecRun } from '../exec-run.js';
import { watchSize } from './watch-size.js';

/** What is known about a run after all its processes are gone. */
export type Finished = Launched & {
  /** The limit for which it was stopped. Null: it was not. */
  excess: Excess | null;
  stdout: ReturnType<Capture['end']>;
  stderr: ReturnType<Capture['end']>;
};

/** Runs the tool to its end. It is asked to stop if the call is aborted, and killed if it writes too much. */
export const launch = async (
  { host, sandbox, program, secrets, call, work, temporary }: ExecRun,
  { launch, limits }: Contained,
): Promise<Finished> => {
  let excess: Excess | null = null;
  const killFor = (why: Excess) => {
    excess ??= why;
    run.stop('kill');
  };
  const stdout = captureOutput('stdout', call, () => killFor({ kind: 'output' }));
  const stderr = captureOutput('stderr', call, () => killFor({ kind: 'output' }));
  const directories = [work.source, ...(temporary === null ? [] : [temporary])];
  const size = watchSize(directories, limits.directory_bytes, (bytes) => killFor({ kind: 'directory', bytes }));
  const run = host.launcher.run(
    {
      launch,
      stdin: secrets.stdin,
      sandbox,
      limits,
      tenant: call.tenant,
      tty: program.tty,
      onStart: size.follow,
      beforeStart: () => call.beforeEffect(),
    },
    { stdout: stdout.write, stderr: stderr.write },
  );
  const ask = () => run.stop('ask');
  call.signal.addEventListener('abort', ask, { once: true });
  // The call may have been aborted while the directory was prepared; a listener added now would not be called.
  if (call.signal.aborted) ask();
  try {
    const launched = await run.ended;
    return { ...launched, excess, stdout: stdout.end(), stderr: stderr.end() };
  } finally {
    call.signal.removeEventListener('abort', ask);
    size.stop();
  }
};
