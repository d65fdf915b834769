import type { Dispatcher } from 'undici';
import { CapstanError } from './errors.js';
import { readProblem } from './read-problem.js';
import { UnreachableError } from './unreachable-error.js';

/**
 * The body of an answer as the type the contract gives it. It is not checked again here: the gateway built it from the
 * same contract, and a client that refused or dropped a field it does not know could not talk to a newer gateway.
 */
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
    return JSON.parse(text === '' ? 'null' : text);
  } catch {
    throw new CapstanError({
      type: 'about:blank',
      title: 'not JSON',
      status: response.statusCode,
      detail: `${url} answered something that is not JSON`,
      code: 0,
      suggestion: 'Check that CAPSTAN_URL is the address of a Capstan gateway.',
    });
  }
};
