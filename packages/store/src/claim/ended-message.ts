/** The address of results, for whoever waits for them. */
export const ENDED = 'ended';

/** The SQL of a message (`said`, an expression) as it is sent: where it carries results, Postgres says when they ended. */
export const stamped = (said: string): string => `CASE WHEN starts_with(${said}, '${ENDED} ')
  THEN '${ENDED} ' || replace(now()::text, ' ', 'T') || substr(${said}, ${ENDED.length + 1}) ELSE ${said} END`;
