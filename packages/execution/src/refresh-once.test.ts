import { expect, test } from 'vitest';
import type { McpCredentials } from './mcp-oauth.js';
import { type ChangeCredentials, refreshOnce } from './refresh-once.js';

const TOKEN_URL = 'https://login.example/token';
const ask = (refresh_token: string) => ({
  method: 'POST',
  body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token }),
});

/** An authorization server whose refresh tokens work once, and the credentials that several processes share. */
function openLogin() {
  const kept: { credentials: McpCredentials } = {
    credentials: {
      client: { client_id: 'ours' },
      tokens: { access_token: 'a1', token_type: 'Bearer', refresh_token: 'r1', issuer: 'https://login.example' },
    },
  };
  let last: Promise<unknown> = Promise.resolve();
  const change: ChangeCredentials = (alter) => {
    const changed = last.then(async () => {
      kept.credentials = await alter(kept.credentials);
    });
    last = changed.catch(() => {});
    return changed;
  };
  const refusal: { error?: string } = {};
  let valid = 1;
  const sent: string[] = [];
  const process = () =>
    refreshOnce(async (_url, init) => {
      const token = new URLSearchParams(String(init?.body)).get('refresh_token') ?? '';
      sent.push(token);
      if (refusal.error !== undefined || token !== `r${valid}`)
        return Response.json({ error: 'invalid_grant', ...refusal }, { status: 400 });
      valid += 1;
      return Response.json({ access_token: `a${valid}`, token_type: 'Bearer', refresh_token: `r${valid}` });
    }, change);
  return { kept, sent, process, refusal };
}

test('tokens that many calls of two processes find expired are refreshed once, and all of them get the new ones', async () => {
  const { kept, sent, process } = openLogin();
  const processes = [process(), process()];
  const answers = await Promise.all(
    [...processes, ...processes, ...processes].map(async (send) => (await send(TOKEN_URL, ask('r1'))).json()),
  );
  expect(sent).toEqual(['r1']);
  for (const answer of answers) expect(answer).toMatchObject({ access_token: 'a2', refresh_token: 'r2' });
  expect(kept.credentials).toEqual({
    client: { client_id: 'ours' },
    tokens: { access_token: 'a2', token_type: 'Bearer', refresh_token: 'r2', issuer: 'https://login.example' },
  });
});

test.each([
  ['invalid_grant', { client: { client_id: 'ours' } }],
  ['invalid_client', {}],
])('the error %s ends the login', async (error, left) => {
  const { kept, process, refusal } = openLogin();
  refusal.error = error;
  expect((await process()(TOKEN_URL, ask('r1'))).status).toBe(400);
  expect(kept.credentials).toEqual(left);
});

test('an error of the authorization server leaves the login as it is', async () => {
  const { kept, process, refusal } = openLogin();
  refusal.error = 'temporarily_unavailable';
  expect((await process()(TOKEN_URL, ask('r1'))).status).toBe(400);
  expect(kept.credentials.tokens?.refresh_token).toBe('r1');
});
