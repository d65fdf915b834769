import { requireSchema as require } from '@capstan/store';
import type { Log } from './log.js';

/** Before anything else is read: a service that would fail at its first statement says what to run instead. */
export async function requireSchema(database_url: string, log: Log): Promise<void> {
  const { unknown } = await require(database_url);
  if (unknown.length > 0)
    log.warn(
      { migrations: unknown },
      'the database was migrated by a newer version; this one still works, upgrade it soon',
    );
}
