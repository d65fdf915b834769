import type { PolicyDocument } from '@capstan/contracts';
import { invalidPolicy, type PolicyError } from './parse-policy.js';

/** The installation's policy can only restrict. Entries that could only grant are refused, so that nobody relies on them. */
export function checkInstallation(document: PolicyDocument): PolicyDocument {
  const errors: PolicyError[] = (document.rules ?? []).flatMap(({ effect }, index) =>
    effect === 'allow' ? [{ field: `rules.${index}.effect`, message: ALLOWS }] : [],
  );
  if (document.approved_specs) errors.push({ field: 'approved_specs', message: 'each tenant approves its own' });
  if (errors.length > 0) throw invalidPolicy(errors);
  return document;
}

const ALLOWS = 'the policy of the installation only bounds what tenants allow: use forbid or hold';
