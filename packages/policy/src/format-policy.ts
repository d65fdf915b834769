import type { Policy } from '@capstan/contracts';
import { stringify } from 'yaml';

/** A policy as YAML that a person edits and puts again. */
export const formatPolicy = ({ name, version, policy_hash, document }: Policy): string =>
  `# ${name}, version ${version}, ${policy_hash}\n${stringify(document, { lineWidth: 120 })}`;
