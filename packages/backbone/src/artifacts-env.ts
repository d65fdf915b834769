import { type ArtifactPlace, type ArtifactStorage, artifactStorage, diskPlace, s3Place } from '@capstan/store/artifact';
import { z } from 'zod';

/** Where large artifacts are stored. Must be the same for every gateway, coordinator and worker of an installation. */
export const ARTIFACTS_ENV = {
  CAPSTAN_ARTIFACTS_DIR: z.string().optional(),
  /** `https://host/bucket` of any S3-compatible service. */
  CAPSTAN_ARTIFACTS_S3_URL: z.url({ protocol: /^https?$/ }).optional(),
  CAPSTAN_ARTIFACTS_S3_REGION: z.string().default('us-east-1'),
  CAPSTAN_ARTIFACTS_S3_ACCESS_KEY_ID: z.string().default(''),
  CAPSTAN_ARTIFACTS_S3_SECRET_ACCESS_KEY: z.string().default(''),
  /** Artifacts up to this size are stored in Postgres. */
  CAPSTAN_ARTIFACTS_INLINE_BYTES: z.coerce
    .number()
    .int()
    .min(0)
    .max(256 * 1024 ** 2)
    .optional(),
};
const ArtifactsEnv = z.object(ARTIFACTS_ENV);
export type ArtifactsEnv = z.infer<typeof ArtifactsEnv>;

export const openArtifacts = (env: ArtifactsEnv): ArtifactStorage =>
  artifactStorage(placeOf(env), env.CAPSTAN_ARTIFACTS_INLINE_BYTES);

const placeOf = (env: ArtifactsEnv): ArtifactPlace | null => {
  if (env.CAPSTAN_ARTIFACTS_S3_URL !== undefined)
    return s3Place({
      url: env.CAPSTAN_ARTIFACTS_S3_URL,
      region: env.CAPSTAN_ARTIFACTS_S3_REGION,
      access_key_id: env.CAPSTAN_ARTIFACTS_S3_ACCESS_KEY_ID,
      secret_access_key: env.CAPSTAN_ARTIFACTS_S3_SECRET_ACCESS_KEY,
    });
  return env.CAPSTAN_ARTIFACTS_DIR === undefined ? null : diskPlace(env.CAPSTAN_ARTIFACTS_DIR);
};
