import { createRedactor } from '@capstan/redact';

const redactor = createRedactor({ values: [] });

/**
 * Comments are stored with the hold, in the audit and in the sealed record, and are sent to webhooks. A secret that somebody
 * pasted into one is redacted before that.
 */
export const redactComment = (comment: string): string => redactor.text(comment);
