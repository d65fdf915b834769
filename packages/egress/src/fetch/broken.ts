import { Failure } from '@capstan/contracts';
import { errors } from 'undici';

/** Returns a `Failure` unchanged, and turns network errors into one. */
export function broken(error: unknown, phase: 'tls' | 'exchange' = 'exchange'): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof errors.InvalidArgumentError)
    return new Failure('INVALID_INPUTS', { detail: `the request cannot be sent: ${error.message}`, cause: error });
  const message = error instanceof Error ? error.message : String(error);
  return new Failure('EGRESS_FAILED', {
    detail: `the request failed: ${message}`,
    cause: error,
    context: { phase },
    // Retrying does not make a certificate valid.
    retryable: !isTls(error),
  });
}

const isTls = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  /^(ERR_TLS|ERR_SSL|CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(String(error.code));
