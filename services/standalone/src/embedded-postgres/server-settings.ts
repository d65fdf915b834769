import { OWNER_SETTING } from './postmaster-files.js';

interface ServerOptions {
  port: number;
  durable: boolean;
  settings: Readonly<Record<string, string>>;
}

/** For a small box that also runs everything else. */
const SMALL_BOX = {
  shared_buffers: '128MB',
  max_connections: '100',
  jit: 'off',
  wal_compression: 'on',
  synchronous_commit: 'on',
  max_logical_replication_workers: '0',
  log_checkpoints: 'off',
  log_line_prefix: '%m [%p] ',
} as const;

/**
 * For tests: the last commits are gone after a kill of Postgres, all of it after a crash of the machine. What its processes
 * share lies in its folder, so that it goes with it when they were killed.
 */
const NOT_DURABLE = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  dynamic_shared_memory_type: 'mmap',
} as const;

/** The arguments of `postgres`. What it listens on is ours to say, so it comes last. */
export function serverArguments({ port, durable, settings }: ServerOptions): string[] {
  const all: Record<string, string> = {
    ...SMALL_BOX,
    ...(durable ? {} : NOT_DURABLE),
    ...settings,
    listen_addresses: '127.0.0.1',
    port: String(port),
    // A socket's path may have 107 bytes, and a data folder lies deeper than that easily.
    unix_socket_directories: '',
    logging_collector: 'off',
    [OWNER_SETTING]: String(process.pid),
  };
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
