import { cp, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '@capstan/contracts';
import { DEFAULT_LIMITS, type Mount, type Sandbox } from '@capstan/sandbox';
import { execa } from 'execa';
import type { Call } from '../../runner.js';
import type { ExecHost, ExecRun, Secrets } from '../exec-run.js';
import { sizeOf } from '../launch/watch-size.js';
import type { Program } from './program.js';
import { ARTIFACTS, type WorkPlace, type WorkPlaces, writeFiles } from './work-place.js';

const TOOLS = '/capstan/tools';
/** The kernel's clock for file times lags behind by up to this much. */
const CLOCK_TICK_MS = 10;

/** Gives a run its work directory while `use` is running. */
export const withRun = async <T>(
  host: ExecHost,
  sandbox: Sandbox,
  asked: { program: Program; secrets: Secrets; call: Call },
  use: (run: ExecRun) => Promise<T>,
): Promise<T> => {
  const { program, call } = asked;
  const { containment, path } = host;
  const { places } = host;
  const place = await openPlace(places, sandbox, asked);
  const { directory } = place;
  try {
    if (place.stays) await refuseFull(directory, host.resources.directory_bytes ?? DEFAULT_LIMITS.directory_bytes);
    writeFiles(directory, program.files, sandbox.identity);
    return await use({
      ...asked,
      host,
      sandbox,
      system: containment.system,
      work: { source: directory, path: directory, writable: program.writes },
      stays: place.stays,
      temporary: place.temporary,
      began: Date.now() - CLOCK_TICK_MS,
      isUntouched: () => places.isUntouched(place),
      artifacts: program.writes ? join(directory, ARTIFACTS) : null,
      tools: program.tools_hash === null ? null : await mountTools(host, sandbox, program.tools_hash),
      path,
    });
  } finally {
    await places.giveBack(call.tenant, sandbox, place);
  }
};

/** Refuses a run if earlier runs of its session have filled the directory. */
const refuseFull = async (directory: string, limit: number): Promise<void> => {
  if ((await sizeOf([directory])) <= limit) return;
  throw new Failure('TOOL_ERROR', {
    detail: `the files of this session take more than the ${limit} bytes that a work directory may have; use another session`,
    retryable: false,
  });
};

const openPlace = async (
  places: WorkPlaces,
  sandbox: Sandbox,
  { program: { extension_id }, call: { tenant, session_id } }: { program: Program; call: Call },
): Promise<WorkPlace> =>
  extension_id !== null && session_id !== null
    ? places.forSession({ tenant, session_id, extension_id }, sandbox)
    : places.forRun(tenant, sandbox);

const mountTools = async (host: ExecHost, { identity }: Sandbox, tools_hash: string): Promise<Mount> => {
  if (!host.extension_tools)
    throw new Failure('RUNNER_FAILED', {
      detail: 'this worker has no access to the tools of extensions',
      retryable: false,
    });
  const source = await host.extension_tools(tools_hash);
  return { source: identity === null ? source : await reachable(host, source, tools_hash), path: TOOLS };
};

/** An unprivileged user may be unable to reach the worker's copy of the executables, so each set is copied once. */
const reachable = async ({ containment }: ExecHost, source: string, tools_hash: string): Promise<string> => {
  const copy = join(containment.directory, `tools-${tools_hash.replace(/[^a-z0-9]/gi, '-')}`);
  if (await stat(copy).catch(() => null)) return copy;
  const fresh = `${copy}.${process.hrtime.bigint()}`;
  await cp(source, fresh, { recursive: true });
  await execa('chmod', ['-R', 'a+rX,go-w', '--', fresh]);
  // If another run was faster, its copy is the same.
  await rename(fresh, copy).catch(() => rm(fresh, { recursive: true, force: true }));
  return copy;
};
