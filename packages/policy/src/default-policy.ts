import type { PolicyDocument } from '@capstan/contracts';
import { parsePolicy } from './parse-policy.js';

/**
 * The policy of a new installation. It allows only tools that touch nothing outside their own session: none of them connects anywhere, starts a
 * program of the caller's choice or writes a file on disk. The suggestion in each denial shows what to add for more.
 */
export const DEFAULT_POLICY: PolicyDocument = parsePolicy({
  version: '1.0',
  boundary: 'deny_by_default',
  rules: [
    {
      id: 'harmless-capabilities',
      effect: 'allow',
      match: {
        tool: [
          'cap:noop:*',
          'cap:current_time:*',
          'cap:test_math:*',
          'cap:test_weather:*',
          'cap:stateless_todo_list:*',
          'cap:research:*',
          'analyze.schema',
        ],
        risk_max: 'LOW',
      },
      reason: 'a built-in tool that touches nothing outside of its session',
    },
    {
      id: 'session-files',
      effect: 'allow',
      match: { tool: 'cap:session_file_system:*', risk_max: 'MED' },
      reason: 'the files of a session are its own',
    },
    {
      id: 'example-extension',
      effect: 'allow',
      match: { tool: 'ext:text.tools:*', risk_max: 'LOW' },
      reason: 'the text tools that come with Capstan',
    },
    {
      id: 'own-tools',
      effect: 'allow',
      match: { tool: 'app:*', risk_max: 'MED' },
      reason: "a function in the installation's own process",
    },
    {
      id: 'own-tools-of-high-risk',
      effect: 'hold',
      match: { tool: 'app:*', risk_min: 'HIGH' },
      approvals: { required: 1, expires_in_ms: 86_400_000 },
      reason: 'functions with high risk need approval',
    },
    {
      id: 'sandboxed-code',
      effect: 'hold',
      match: { tool: 'cap:sandbox:*' },
      approvals: { required: 1, expires_in_ms: 86_400_000 },
      reason: 'code needs approval',
    },
  ],
});
