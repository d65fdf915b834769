import { execa } from 'execa';
import { LAUNCH_ENV, type Launch } from './launch.js';

/** Runs a command to its end as the user that Postgres runs as. */
export async function runLaunched(launch: Launch, command: readonly string[], input = '') {
  const [file = '', ...args] = [...launch.prefix, ...command];
  const options = { ...launch.credentials, env: LAUNCH_ENV, extendEnv: false, cwd: '/', input, reject: false } as const;
  const result = await execa(file, args, options);
  if (!result.failed) return { ok: true, output: result.stdout } as const;
  // Without an exit code it did not start at all (missing program, not allowed to change the user) and printed nothing.
  const said = result.exitCode === undefined ? '' : result.stderr.trim();
  return { ok: false, problem: said || result.shortMessage || 'unknown' } as const;
}
