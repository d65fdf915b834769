import { Failure } from '@capstan/contracts';
import type { WorkerContext } from './worker-context.js';

export const createSecretResolver = (): WorkerContext['secret'] => async (_, name) => {
  throw new Failure('INVALID_INPUTS', { detail: `there is no secret ${name}` });
};
