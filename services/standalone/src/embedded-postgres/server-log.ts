import { open, stat, truncate } from 'node:fs/promises';

const LIMIT_BYTES = 10 * 1024 * 1024;
const CHECK_EVERY_MS = 60_000;

export const serverLogFile = (data_dir: string): string => `${data_dir}.log`;

/** Empties the log when it has grown too large. Postgres appends, so this may happen while it writes. */
export async function boundServerLog(path: string): Promise<void> {
  const size = await stat(path).then(
    (entry) => entry.size,
    () => 0,
  );
  if (size > LIMIT_BYTES) await truncate(path);
}

export function keepServerLogBounded(path: string): { stop(): void } {
  const timer = setInterval(() => void boundServerLog(path).catch(() => undefined), CHECK_EVERY_MS).unref();
  return { stop: () => clearInterval(timer) };
}

/** What was written since `offset`, at most its last 64 KiB. */
export async function readServerLog(path: string, offset: number): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const start = Math.max(offset, size - 64 * 1024);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.max(0, size - start)), { position: start });
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
