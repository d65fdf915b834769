import { isObject } from '@capstan/contracts';
import type { FetchLike, StoredOAuthTokens } from '@modelcontextprotocol/client';
import type { McpCredentials } from './mcp-oauth.js';

/** Changes stored credentials while no other process can. They stay as they are if `alter` returns them unchanged. */
export type ChangeCredentials = (alter: (credentials: McpCredentials) => Promise<McpCredentials>) => Promise<void>;

/** Less than the transaction that changes the credentials may take. */
const REFRESH_MS = 20_000;

/**
 * Refreshes tokens once, however many calls and processes find them expired at the same time: the first one gets new tokens and
 * stores them, the others get what is stored. A refresh token usually works once, and an authorization server that sees it twice
 * takes it for stolen and ends the login.
 */
export function refreshOnce(send: FetchLike, change: ChangeCredentials): FetchLike {
  const underWay = new Map<string, Promise<Response>>();
  return async (target, init) => {
    const refresh_token = refreshTokenIn(init);
    if (refresh_token === null) return send(target, init);
    const sendInTime = () => send(target, { ...init, signal: AbortSignal.timeout(REFRESH_MS) });
    const refreshing =
      underWay.get(refresh_token) ??
      refresh(refresh_token, change, sendInTime).finally(() => underWay.delete(refresh_token));
    underWay.set(refresh_token, refreshing);
    return (await refreshing).clone();
  };
}

function refreshTokenIn(init: Parameters<FetchLike>[1]): string | null {
  if (init?.method !== 'POST') return null;
  const form = new URLSearchParams(String(init.body ?? ''));
  return form.get('grant_type') === 'refresh_token' ? form.get('refresh_token') : null;
}

async function refresh(token: string, change: ChangeCredentials, send: () => Promise<Response>): Promise<Response> {
  let answer = Response.json({ error: 'invalid_grant', error_description: 'nobody is logged in' }, { status: 400 });
  await change(async (credentials) => {
    const { tokens } = credentials;
    if (tokens?.refresh_token !== token) {
      if (tokens) answer = Response.json(tokens);
      return credentials;
    }
    answer = await send();
    return after(credentials, tokens, answer.ok, await bodyOf(answer));
  });
  return answer;
}

const bodyOf = async (answer: Response): Promise<unknown> => {
  try {
    return await answer.clone().json();
  } catch {
    return null;
  }
};

/** The errors by which an authorization server says that only another login helps. */
const LOGIN_ENDED: ReadonlySet<unknown> = new Set(['invalid_grant', 'invalid_client', 'unauthorized_client']);

/** The credentials after an answer: with the new tokens, or without the ones that are of no more use. */
function after(credentials: McpCredentials, before: StoredOAuthTokens, ok: boolean, body: unknown): McpCredentials {
  if (!isObject(body)) return credentials;
  if (ok)
    return typeof body.access_token === 'string' ? { ...credentials, tokens: { ...before, ...body } } : credentials;
  if (!LOGIN_ENDED.has(body.error)) return credentials;
  const { tokens, client, ...rest } = credentials;
  // A client that is not known any more has to be registered again.
  return body.error === 'invalid_grant' && client ? { ...rest, client } : rest;
}
