import type { Policy } from '@capstan/contracts';
import { stringify } from 'yaml';

/** A policy as YAML that a person edits and puts again: as it was written, where it was sent as text. */
export const formatPolicy = ({ text, document }: Pick<Policy, 'text' | 'document'>): string =>
  text ?? stringify(document, { lineWidth: 120 });
