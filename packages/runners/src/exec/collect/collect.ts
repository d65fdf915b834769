import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import type { RunFacts } from '@capstan/contracts';
import { factOf, type Sandbox } from '@capstan/sandbox';
import { execa } from 'execa';
import { collectArtifacts } from '../../artifact/collect-artifacts.js';
import type { RunOutcome } from '../../runner.js';
import type { Contained } from '../contain/contain.js';
import type { ExecRun } from '../exec-run.js';
import type { Finished } from '../launch/launch.js';
import { execOutcome } from './exec-outcome.js';
import { filesWritten } from './files-written.js';

const { O_RDONLY, O_NOFOLLOW, O_DIRECTORY } = constants;

/** Collects the outcome of the run, what was observed of it, and its artifacts. */
export const collect = async (
  run: ExecRun,
  { network, features }: Contained,
  finished: Finished,
): Promise<RunOutcome> => {
  const { sandbox, program, call, work } = run;
  const outcome = execOutcome(program, finished);
  const observed: NonNullable<RunFacts['observed']> =
    network === null
      ? { ...(finished.tree && { processes: finished.tree.processes }) }
      : // The bridge runs beside the tool, so that the count of processes would not be the tool's.
        { domains: network.domains() };
  const facts: RunFacts = { sandbox: factOf({ ...sandbox, features }), observed };
  if (run.isUntouched()) return { ...outcome, facts };
  const given = new Set(Object.keys(program.files));
  const files_written = await filesWritten(work.source, given, run.stays ? run.began : null);
  if (files_written.length > 0) observed.files_written = files_written.map((name) => call.redact.text(name));
  if (run.artifacts === null) return { ...outcome, facts };
  const { artifacts, left } = await collectArtifacts(run.artifacts, call);
  for (const line of left) call.log('stderr', `${line}\n`);
  // The next run of the session must not keep these files again.
  if (run.stays) await emptyFolder(run.artifacts, sandbox);
  return { ...outcome, facts, ...(artifacts.length > 0 ? { artifacts } : {}) };
};

/** Uses descriptors throughout, because another run of the session may replace the folder with a link in the meantime. */
const emptyFolder = async (folder: string, { identity }: Sandbox): Promise<void> => {
  const directory = await open(folder, O_RDONLY | O_NOFOLLOW | O_DIRECTORY).catch(() => null);
  if (directory === null) return;
  try {
    const here = `/proc/self/fd/${directory.fd}`;
    const names = await readdir(here);
    if (names.length === 0) return;
    await execa('rm', ['-rf', '--', ...names], { cwd: here, reject: false, stdio: 'ignore', ...identity });
  } finally {
    await directory.close();
  }
};
