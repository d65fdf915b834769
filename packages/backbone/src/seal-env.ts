import { parseSealKey, type SealKey } from '@capstan/integrity';
import { z } from 'zod';

/** What checkpoints of the log are signed with: an Ed25519 key as PEM, or its seed of 32 bytes in base64. Without it they are not signed. */
export const SEAL_ENV = {
  CAPSTAN_SEAL_KEY: z
    .string()
    .superRefine((text, context) => {
      try {
        parseSealKey(text);
      } catch (error) {
        context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : 'not a key' });
      }
    })
    .optional(),
};

export const openSealKey = ({ CAPSTAN_SEAL_KEY: key }: { CAPSTAN_SEAL_KEY?: string | undefined }): SealKey | null =>
  key === undefined ? null : parseSealKey(key);
