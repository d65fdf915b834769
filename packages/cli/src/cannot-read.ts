import { UsageError } from './usage-error.js';

const WHY: Partial<Record<string, string>> = {
  ENOENT: 'no such file',
  ENOTDIR: 'no such file',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
};

/** The usage error for a file that cannot be read. */
export const cannotRead = (file: string, error: unknown, suggestion: string | null = null): UsageError => {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  return new UsageError(
    `cannot read ${file}: ${WHY[code] ?? (error instanceof Error ? error.message : String(error))}`,
    suggestion,
  );
};
