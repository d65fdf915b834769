import { z } from 'zod';
import { TERMINAL_STATUSES } from './status.js';

const Days = z.number().positive().max(36_500).nullable();

/** How long data is kept. Null means forever; an absent field takes the value of the next wider setting. */
export const KeptFor = z.strictObject({
  results_days: Days.optional().describe('Payloads, logs and artifacts of ended calls; their hashes are kept'),
  records_days: Days.optional().describe('The records of calls and runs; a run is removed as a whole'),
});
export type KeptFor = z.infer<typeof KeptFor>;

const Settings = KeptFor.extend({
  by_status: z
    .partialRecord(z.enum(TERMINAL_STATUSES), KeptFor)
    .optional()
    .describe('Settings by final status of the call'),
});

/** The retention of a tenant, with exceptions by final status. */
export const NewRetention = Settings.refine((one) => Object.keys(one).length > 0, 'at least one field must be given');
export type NewRetention = z.infer<typeof NewRetention>;

export const Retention = Settings.extend({
  tenant: z.string(),
  updated_by: z.string(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type Retention = z.infer<typeof Retention>;
