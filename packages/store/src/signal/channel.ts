/** A channel of LISTEN and NOTIFY for each topic, so that a signal wakes those processes alone that heed it. */
export const channelOf = (topic: string): string => `capstan_${topic}`;

/** The SQL that sends `message`, an expression: a topic and ids, separated by blanks. */
export const notify = (message: string): string =>
  `pg_notify('${channelOf('')}' || split_part(${message}, ' ', 1), ${message})`;
