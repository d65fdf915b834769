import type { Readable } from 'node:stream';

/** Storage for artifacts that are too large for Postgres. */
export type ArtifactPlace = {
  name: 'disk' | 's3';
  has(sha256: string): Promise<boolean>;
  /** Stores a complete file. The same content may be stored more than once. */
  put(sha256: string, file: string): Promise<void>;
  /** Null if there is no such content. */
  get(sha256: string): Promise<Readable | null>;
  delete(sha256: string): Promise<void>;
};

export type ArtifactStorage = {
  place: ArtifactPlace | null;
  /** Contents up to this size are stored in Postgres. */
  inline_bytes: number;
  /** The maximum size of an artifact. */
  max_bytes: number;
};

const MIB = 1024 ** 2;

/** Without a place for large contents, all are stored in Postgres, up to a lower limit. */
export const artifactStorage = (place: ArtifactPlace | null, inline_bytes?: number): ArtifactStorage => ({
  place,
  inline_bytes: inline_bytes ?? (place === null ? 32 * MIB : MIB),
  max_bytes: 1024 * MIB,
});
