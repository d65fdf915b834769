/** Each topic has its own LISTEN/NOTIFY channel, so that a signal wakes only the processes that listen to it. */
export const channelOf = (topic: string): string => `capstan_${topic}`;

/** SQL that sends `message`, an expression for a topic and ids, separated by spaces. */
export const notify = (message: string): string =>
  `pg_notify('${channelOf('')}' || split_part(${message}, ' ', 1), ${message})`;
