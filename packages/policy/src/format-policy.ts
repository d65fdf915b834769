import type { Policy } from '@capstan/contracts';
import { stringify } from 'yaml';

/** Formats a policy as YAML for editing. A policy that was sent as text is returned as it was written. */
export const formatPolicy = ({ text, document }: Pick<Policy, 'text' | 'document'>): string =>
  text ?? stringify(document, { lineWidth: 120 });
