import { z } from 'zod';
import { TERMINAL_STATUSES } from './status.js';

const Days = z.number().positive().max(36_500).nullable();

/** For how long; null is for ever, and what is left out is as the next wider setting says. */
export const KeptFor = z.strictObject({
  results_days: Days.optional().describe('Payloads, logs and artifacts of calls that have ended; their hashes stay'),
  records_days: Days.optional().describe('All else: the calls and runs themselves, whole runs at a time'),
});
export type KeptFor = z.infer<typeof KeptFor>;

const Settings = KeptFor.extend({
  by_status: z.partialRecord(z.enum(TERMINAL_STATUSES), KeptFor).optional().describe('For calls that ended so'),
});

/** What a tenant keeps, and of which ends for longer or shorter. */
export const NewRetention = Settings.refine((one) => Object.keys(one).length > 0, 'at least one field must be given');
export type NewRetention = z.infer<typeof NewRetention>;

export const Retention = Settings.extend({
  tenant: z.string(),
  updated_by: z.string(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type Retention = z.infer<typeof Retention>;
