import { z } from 'zod';

export const BareOrder = z.object({ in_flight: z.number(), count: z.number() });
export type BareOrder = z.infer<typeof BareOrder>;
