import type { Dispatcher } from 'undici';
import { CapstanError } from './errors.js';
import { readProblem } from './read-problem.js';
import { UnreachableError } from './unreachable-error.js';

/**
 * Parses what a gateway sent as the type in the contract. It is not validated again: the gateway built it from the same contract, and
 * a client that refused or dropped unknown fields could not talk to a newer gateway.
 */
export const fromGateway = <T>(text: string): T => JSON.parse(text);

/** Parses the body of a response. */
export const readJson = async <T>(
  response: Dispatcher.ResponseData,
  url: string,
  signal: AbortSignal | undefined,
): Promise<T> => {
  if (response.statusCode >= 400) throw await readProblem(response, url);
  const text = await response.body.text().catch((error: unknown) => {
    throw signal?.aborted ? error : new UnreachableError(url, error);
  });
  try {
    return fromGateway(text === '' ? 'null' : text);
  } catch {
    throw new CapstanError({
      type: 'about:blank',
      title: 'not JSON',
      status: response.statusCode,
      detail: `the response of ${url} is not JSON`,
      code: 0,
      suggestion: 'Check that CAPSTAN_URL is the address of a Capstan gateway.',
    });
  }
};
