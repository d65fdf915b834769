import { OWNER_SETTING } from './postmaster-files.js';

interface ServerOptions {
  port: number;
  durable: boolean;
  settings: Readonly<Record<string, string>>;
}

/** For a small machine that also runs everything else. */
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
 * For tests: killing Postgres loses the last commits, and a crash of the machine loses everything. Its shared memory is in its folder,
 * so that it is deleted with the folder after a kill.
 */
const NOT_DURABLE = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  dynamic_shared_memory_type: 'mmap',
} as const;

/** The arguments of `postgres`. The address and port come last, so that settings cannot override them. */
export function serverArguments({ port, durable, settings }: ServerOptions): string[] {
  const all: Record<string, string> = {
    ...SMALL_BOX,
    ...(durable ? {} : NOT_DURABLE),
    ...settings,
    listen_addresses: '127.0.0.1',
    port: String(port),
    // The path of a socket is limited to 107 bytes, and a data folder easily exceeds that.
    unix_socket_directories: '',
    logging_collector: 'off',
    [OWNER_SETTING]: String(process.pid),
  };
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
