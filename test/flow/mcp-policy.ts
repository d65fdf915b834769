import { fileURLToPath } from 'node:url';
import { findRepository } from '../fixtures/find-repository.js';

export const inRepository = (path: string) => fileURLToPath(new URL(path, findRepository()));
/** An MCP server with a tool for each success and failure that the tests need. */
export const FIXTURE = inRepository('packages/runners/dist/mcp/testing/fixture-server.js');

/** Allows everything that the tests call, except what they want to see held or denied. */
export const MCP_POLICY = {
  version: '1.0',
  boundary: 'deny_by_default',
  rules: [
    { id: 'all', effect: 'allow', match: { tool: ['mcp:*', 'cap:*', 'shell.run'] } },
    { id: 'ask', effect: 'hold', match: { tool: 'cap:test_math:multiply' }, reason: 'products need a person' },
    { id: 'never', effect: 'forbid', match: { tool: 'cap:test_math:divide' }, reason: 'nobody divides here' },
  ],
  limits: [{ shell: true }],
  risk: { HIGH: { effect: 'allow' } },
};
