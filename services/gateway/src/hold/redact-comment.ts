import { createRedactor } from '@capstan/redact';

const redactor = createRedactor({ values: [] });

/**
 * A comment is kept with the hold, in the audit and in the sealed record, and told to webhooks. So a secret that somebody
 * pasted into one is taken out before any of them has it.
 */
export const redactComment = (comment: string): string => redactor.text(comment);
