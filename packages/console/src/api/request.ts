import type { Page, Problem } from '@capstan/contracts';

type Value = string | number | boolean;
export type Query = Readonly<Record<string, Value | readonly Value[] | null | undefined>>;

export type RequestOptions = {
  query?: Query;
  body?: unknown;
  /** A text document, instead of JSON. */
  text?: { content: string; type: string };
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
};

/** An error response of the gateway, with its problem document. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly problem: Problem;
  readonly status: number;

  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
    this.status = problem.status;
  }
}

/** The gateway did not respond. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';

  constructor(cause: unknown) {
    super('The gateway is not responding.', { cause });
  }
}

/** Called when a request was refused because the login has ended. */
export const signedOut = new EventTarget();

const withQuery = (path: string, query: Query = {}): string => {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    const values = Array.isArray(value) ? value : [value];
    for (const each of values) if (each !== undefined && each !== null && each !== '') pairs.append(name, String(each));
  }
  const text = pairs.toString();
  return text === '' ? path : `${path}?${text}`;
};

export async function send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  const { query, body, text, headers, signal } = options;
  const content = text?.content ?? (body === undefined ? undefined : JSON.stringify(body));
  const type = text?.type ?? (body === undefined ? undefined : 'application/json');
  let response: Response;
  try {
    response = await fetch(withQuery(path, query), {
      method,
      headers: { accept: 'application/json', ...(type ? { 'content-type': type } : {}), ...headers },
      ...(content === undefined ? {} : { body: content }),
      ...(signal ? { signal } : {}),
      credentials: 'same-origin',
    });
  } catch (error) {
    throw signal?.aborted ? error : new UnreachableError(error);
  }
  if (response.ok) return response;
  const problem = await readProblem(response);
  if (response.status === 401 && path !== '/v1/login') signedOut.dispatchEvent(new Event('signed-out'));
  throw new ProblemError(problem);
}

/** Returns the response as the contract's type, without validating it, because the gateway uses the same contract. */
export async function request<T>(method: string, path: string, options?: RequestOptions): Promise<T> {
  const response = await send(method, path, options);
  const text = await response.text();
  return text === '' ? (null as T) : JSON.parse(text);
}

export const get = <T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> =>
  request<T>('GET', path, { ...(query ? { query } : {}), signal });

export const post = <T>(path: string, body?: unknown): Promise<T> => request<T>('POST', path, { body });

/** Fetches all pages of a list that is known to be short. */
export async function getAll<T>(path: string, query: Query = {}, max = 5000): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<T> = await get(path, { ...query, cursor });
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null && items.length < max);
  return items;
}

async function readProblem(response: Response): Promise<Problem> {
  const fallback: Problem = {
    type: 'about:blank',
    title: response.statusText,
    status: response.status,
    detail: `The gateway answered HTTP ${response.status}.`,
    code: 0,
    suggestion: '',
  };
  try {
    return { ...fallback, ...(await response.json()) };
  } catch {
    return fallback;
  }
}
