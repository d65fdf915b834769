import { Failure } from '@capstan/contracts';

/** Node reads header bytes as Latin-1: any other text would be another key than the same text in a body. */
const PRINTABLE = /^[\x20-\x7e]+$/;

/** The body as if `Idempotency-Key` had been sent as its `idempotency_key`. What is no object is left for its schema to refuse. */
export function withIdempotencyHeader(body: unknown, header: string | string[] | undefined): unknown {
  if (header === undefined || typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const idempotency_key = String(header);
  if (!PRINTABLE.test(idempotency_key))
    throw new Failure('INVALID_REQUEST', {
      detail: 'Idempotency-Key: must be printable ASCII, and not empty',
      suggestion: 'Send a UUID, or send the key as idempotency_key in the body.',
    });
  if ('idempotency_key' in body && body.idempotency_key !== idempotency_key)
    throw new Failure('INVALID_REQUEST', {
      detail: 'Idempotency-Key: differs from idempotency_key in the body',
      suggestion: 'Send the key once, in the header or in the body.',
      context: { errors: [{ field: 'idempotency_key', message: 'differs from the header Idempotency-Key' }] },
    });
  return { ...body, idempotency_key };
}
