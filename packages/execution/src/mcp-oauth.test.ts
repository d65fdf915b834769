import { expect, test } from 'vitest';
import { type McpCredentials, McpOAuth } from './mcp-oauth.js';

const loginOf = (client_id: string, kept: { credentials: McpCredentials }) =>
  new McpOAuth({
    config: { name: 'docs', url: 'https://docs.example/mcp', oauth: { client_id, client_secret: 'secret://docs' } },
    redirect_url: 'https://capstan.example/v1/mcp-logins/callback',
    client_secret: 'of-the-tests',
    load: async () => kept.credentials,
    change: async (alter) => {
      kept.credentials = alter(kept.credentials);
    },
  });

test('a client that was registered by hand stays bound to the authorization server that it was first used at', async () => {
  const kept = { credentials: {} };
  const login = loginOf('ours', kept);
  const client = { client_id: 'ours', client_secret: 'of-the-tests' };
  expect(await login.clientInformation()).toEqual(client);
  await login.saveClientInformation({ ...client, issuer: 'https://first.example' });
  expect(await login.clientInformation()).toEqual({ ...client, issuer: 'https://first.example' });
  expect(await loginOf('another', kept).clientInformation()).not.toHaveProperty('issuer');
});
