import { requireSchema as require } from '@capstan/store';
import type { Log } from './log.js';

/** Called before anything else: a service on an outdated schema stops with the command to run, instead of failing later. */
export async function requireSchema(database_url: string, log: Log): Promise<void> {
  const { unknown } = await require(database_url);
  if (unknown.length > 0)
    log.warn(
      { migrations: unknown },
      'the database was migrated by a newer version; this version still works, but upgrade it soon',
    );
}
