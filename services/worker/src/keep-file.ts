import { Failure } from '@capstan/contracts';
import type { WorkerContext } from './worker-context.js';

export const createKeeper = (): WorkerContext['keep'] => async (_, file) => {
  throw new Failure('RUNNER_FAILED', { detail: `${file.name} could not be kept: no place for artifacts is set up` });
};
