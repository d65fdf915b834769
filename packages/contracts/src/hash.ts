import { z } from 'zod';

export const Hash = z.string().regex(/^sha256:[0-9a-f]{64}$/, 'expected sha256: and 64 hex digits');
export type Hash = z.infer<typeof Hash>;
