import type { Observed } from '@capstan/contracts';
import type { DbConnection } from './db-connections.js';

/** Where a query went: the host of a server, or the file. */
export const observed = (connection: DbConnection, wrote: boolean): Observed => {
  if (connection.kind === 'postgres') return { domains: hostsOf(connection.url) };
  const files = [connection.path];
  return { files_read: files, ...(wrote && { files_written: files }) };
};

/** None for a socket on this machine. */
const hostsOf = (url: string): string[] => {
  const { hostname, searchParams } = new URL(url);
  const host = searchParams.get('host') ?? decodeURIComponent(hostname);
  return host === '' || host.startsWith('/') ? [] : [host];
};
