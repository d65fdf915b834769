import { PolicyDocument } from '@capstan/contracts';

/** What a first start allows: the built-ins that touch nothing. Everything else needs a rule. */
export const DEFAULT_POLICY: PolicyDocument = PolicyDocument.parse({
  version: '1.0',
  boundary: 'deny_by_default',
  rules: [
    {
      id: 'harmless-builtins',
      effect: 'allow',
      match: { tool: ['cap:current_time:*', 'cap:test_math:*'] },
      reason: 'a built-in tool without side effects',
    },
  ],
});
