import { parseSealKey, type SealKey } from '@capstan/integrity';
import { z } from 'zod';

/** The key that signs checkpoints of the log: Ed25519, as PEM or as its 32-byte seed in base64. Without it, they are not signed. */
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
