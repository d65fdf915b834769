/** The address of results, for waiting callers. */
export const ENDED = 'ended';

/** SQL that adds the time from Postgres' clock to a message (`said`, an expression) with results. Other messages stay as they are. */
export const stamped = (said: string): string => `CASE WHEN starts_with(${said}, '${ENDED} ')
  THEN '${ENDED} ' || replace(now()::text, ' ', 'T') || substr(${said}, ${ENDED.length + 1}) ELSE ${said} END`;
