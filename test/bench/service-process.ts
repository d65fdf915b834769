import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execaNode } from 'execa';
import type { Cleanup } from './cleanup.js';

/** From `test/dist/bench`, where the bench runs. */
export const CAPSTAN = fileURLToPath(new URL('../../../packages/cli/bin/capstan.js', import.meta.url));

export interface ServiceProcess {
  readonly name: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export interface StartServiceProcess {
  readonly name: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly directory: string;
  readonly cleanup: Cleanup;
  /** Called when the process ends without having been stopped. */
  readonly onDeath: (error: Error) => void;
}

/** Runs `capstan <args>` until it is stopped. What it logs, warnings only, is shown when it ends by itself. */
export async function startServiceProcess({
  name,
  args,
  env,
  directory,
  cleanup,
  onDeath,
}: StartServiceProcess): Promise<ServiceProcess> {
  const log_file = join(directory, `${name}.log`);
  const log = { file: log_file, append: true };
  const child = execaNode(CAPSTAN, args, {
    ...inherited(env, directory),
    stdin: 'ignore',
    stdout: log,
    stderr: log,
    ipc: false,
    buffer: false,
    reject: false,
    forceKillAfterDelay: 10_000,
  });
  let stopping = false;
  const stop = async () => {
    stopping = true;
    child.kill();
    await child;
  };
  await cleanup.defer(stop);
  void child.then(({ exitCode, signal }) => {
    if (!stopping)
      onDeath(new Error(`${name} ended by itself (${exitCode ?? signal}); its last lines:\n${tailOf(log_file)}`));
  });
  if (child.pid === undefined) throw new Error(`${name} did not start`);
  return { name, pid: child.pid, stop };
}

/** Runs a `capstan` command to its end. */
export async function runCapstan(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  directory: string,
): Promise<void> {
  await execaNode(CAPSTAN, args, { ...inherited(env, directory), ipc: false });
}

/** The environment of whoever starts the bench must not reach what is measured: a REDIS_URL there would change the queue. */
function inherited(env: Readonly<Record<string, string>>, directory: string) {
  const { PATH = '', HOME = directory, LANG = 'C.UTF-8', TMPDIR = directory } = process.env;
  return {
    env: { PATH, HOME, LANG, TMPDIR, ...env },
    extendEnv: false,
    cwd: directory,
    nodePath: process.execPath,
    nodeOptions: [],
  };
}

function tailOf(file: string): string {
  if (!existsSync(file)) return '(none)';
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-15).join('\n');
}
