import type { Readable } from 'node:stream';

/** Where contents are that are too large for Postgres. */
export type ArtifactPlace = {
  name: 'disk' | 's3';
  has(sha256: string): Promise<boolean>;
  /** Takes a file that is complete; the same content may come twice. */
  put(sha256: string, file: string): Promise<void>;
  /** Null when it is not there. */
  get(sha256: string): Promise<Readable | null>;
  delete(sha256: string): Promise<void>;
};

export type ArtifactStorage = {
  place: ArtifactPlace | null;
  /** Up to here they are in Postgres. */
  inline_bytes: number;
  /** No artifact may be larger. */
  max_bytes: number;
};

const MIB = 1024 ** 2;

/** Without a place for large ones, Postgres takes what it reasonably can. */
export const artifactStorage = (place: ArtifactPlace | null, inline_bytes?: number): ArtifactStorage => ({
  place,
  inline_bytes: inline_bytes ?? (place === null ? 32 * MIB : MIB),
  max_bytes: 1024 * MIB,
});
