import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import type { RunFacts, SandboxFeature } from '@capstan/contracts';
import { execa } from 'execa';
import { collectArtifacts } from '../artifact/collect-artifacts.js';
import type { RunOutcome } from '../runner.js';
import { factOf, type Sandbox } from '../sandbox/sandbox.js';
import type { ExecRun } from './exec-run.js';
import { filesWritten } from './files-written.js';
import type { NetworkAccess } from './network-access.js';

const { O_RDONLY, O_NOFOLLOW, O_DIRECTORY } = constants;

/** Adds what the run was seen to do, and keeps the files that it left for that. */
export const withTraces = async (
  outcome: RunOutcome,
  run: ExecRun,
  network: NetworkAccess | null,
  features: readonly SandboxFeature[],
): Promise<RunOutcome> => {
  const { sandbox, program, call, work } = run;
  const observed: NonNullable<RunFacts['observed']> = {
    ...outcome.facts?.observed,
    ...(network === null ? {} : { domains: network.domains() }),
  };
  const facts: RunFacts = { sandbox: factOf({ ...sandbox, features }), observed };
  if (run.isUntouched()) return { ...outcome, facts };
  const given = new Set(Object.keys(program.files));
  const files_written = await filesWritten(work.source, given, run.stays ? run.began : null);
  if (files_written.length > 0) observed.files_written = files_written.map((name) => call.redact.text(name));
  if (run.artifacts === null) return { ...outcome, facts };
  const { artifacts, left } = await collectArtifacts(run.artifacts, call);
  for (const line of left) call.log('stderr', `${line}\n`);
  // What is kept is not kept again by the next run of the session.
  if (run.stays) await emptyFolder(run.artifacts, sandbox);
  return { ...outcome, facts, ...(artifacts.length > 0 ? { artifacts } : {}) };
};

/** By descriptors all the way: another run of the session may put links in its place meanwhile. */
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
