import { type Descriptor, NO_EFFECTS } from '@capstan/contracts';
import type { Request } from '../request.js';

/** A tool that touches nothing. */
export const newTool = (given: Partial<Descriptor> = {}): Descriptor => ({
  tool_id: 'cap:test_math:add',
  name: 'add',
  description: '',
  source: 'capability',
  origin: 'test_math',
  runner: 'builtin',
  binding: { kind: 'native' },
  input_schema: {},
  risk: 'LOW',
  side_effects: [],
  effects: NO_EFFECTS,
  trust: 'native',
  inferred: [],
  ...given,
});

/** A call of it by somebody who may submit. */
export const newRequest = (given: Partial<Request> = {}): Request => ({
  descriptor: newTool(),
  inputs: {},
  mode: 'execution',
  actor: { name: 'ann', roles: ['submit'], tenant: 'acme' },
  labels: {},
  session_id: null,
  ...given,
});
