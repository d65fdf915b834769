import type { PolicyDocument } from '@capstan/contracts';
import { compilePolicy } from '../compile-policy.js';
import type { CompiledPolicy } from '../request.js';

/** An installation that leaves everything to its tenants. */
export const OPEN: PolicyDocument = {
  limits: [{ deny_private_ips: false, env: ['*'], shell: true, sandbox: 'preferred' }],
};

/** A tenant's policy by itself, under nothing. */
export const compileOpen = (document: PolicyDocument): CompiledPolicy =>
  compilePolicy({ ...document, installation: OPEN });
