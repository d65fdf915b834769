import { Failure } from '@capstan/contracts';
import { errors } from 'undici';

/** Our own failures as they are; what the network does, in words that name no internals. */
export function broken(error: unknown, phase: 'tls' | 'exchange' = 'exchange'): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof errors.InvalidArgumentError)
    return new Failure('INVALID_INPUTS', { detail: `the request cannot be sent: ${error.message}`, cause: error });
  const message = error instanceof Error ? error.message : String(error);
  return new Failure('EGRESS_FAILED', {
    detail: `the request failed: ${message}`,
    cause: error,
    context: { phase },
    // A certificate does not become valid by asking again.
    retryable: !isTls(error),
  });
}

const isTls = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  /^(ERR_TLS|ERR_SSL|CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(String(error.code));
