import type { Artifact } from '@capstan/contracts';
import type { Call } from '../runner.js';
import { mediaTypeOf } from './media-type.js';
import { redactedContent } from './redact-file.js';
import { walkFiles } from './walk-files.js';

export type ArtifactLimits = { max_count: number; max_bytes: number; max_total_bytes: number };

export const DEFAULT_ARTIFACT_LIMITS: ArtifactLimits = {
  max_count: 100,
  max_bytes: 64 * 1024 ** 2,
  max_total_bytes: 256 * 1024 ** 2,
};

export type Collected = {
  artifacts: Artifact[];
  /** The files that were not kept, with the reason. */
  left: string[];
};

/** Saves the files that a tool left in its artifacts folder. */
export const collectArtifacts = async (
  folder: string,
  { keep, redact }: Pick<Call, 'keep' | 'redact'>,
  limits: ArtifactLimits = DEFAULT_ARTIFACT_LIMITS,
): Promise<Collected> => {
  const artifacts: Artifact[] = [];
  const left: string[] = [];
  let total = 0;
  // Directories count as well, so that deep trees are limited too.
  for await (const { name, file } of walkFiles(folder, 10 * limits.max_count)) {
    try {
      const { size } = await file.stat();
      const why = tooMuch(artifacts.length, size, total, limits);
      if (why !== null) {
        left.push(redact.text(`${name} was not kept: ${why}`));
        continue;
      }
      total += size;
      const content = await redactedContent(file, redact);
      artifacts.push(await keep({ name: redact.text(name), media_type: mediaTypeOf(name), content }));
    } finally {
      await file.close();
    }
  }
  return { artifacts, left: left.slice(0, limits.max_count) };
};

const tooMuch = (count: number, size: number, total: number, limits: ArtifactLimits): string | null => {
  if (count >= limits.max_count) return `a run may leave ${limits.max_count} files`;
  if (size > limits.max_bytes) return `it has ${size} bytes, of ${limits.max_bytes} that a file may have`;
  if (total + size > limits.max_total_bytes) return `a run may leave ${limits.max_total_bytes} bytes in all`;
  return null;
};
