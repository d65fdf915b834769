import { expect, it } from 'vitest';
import { resolveConnection } from './connection.js';

const url = (options: { url?: string }, env: Record<string, string>): string =>
  resolveConnection(options, env, '/').url;

it('the address is the option, CAPSTAN_URL, a port of the environment, or the default', () => {
  expect(url({ url: 'http://a/' }, { CAPSTAN_URL: 'http://b' })).toBe('http://a');
  expect(url({}, { CAPSTAN_URL: 'http://b', PORT: '1' })).toBe('http://b');
  expect(url({}, { CAPSTAN_PORT: '8080', PORT: '1' })).toBe('http://127.0.0.1:8080');
  expect(url({}, { PORT: '8081' })).toBe('http://127.0.0.1:8081');
  expect(url({}, { CAPSTAN_URL: '' })).toBe('http://127.0.0.1:7070');
});

it('an invalid gateway URL is refused', () => {
  expect(() => url({ url: 'localhost:7070' }, {})).toThrow('not a gateway URL');
  expect(() => url({ url: '' }, {})).toThrow('not a gateway URL');
});

it('--key goes before the key of the environment, which goes to the address of --url too', () => {
  const env = { CAPSTAN_API_KEY: 'env' };
  expect(resolveConnection({ key: 'mine' }, env, '/').key).toEqual({ key: 'mine', origin: '--key' });
  expect(resolveConnection({ url: 'http://a' }, env, '/').key).toEqual({ key: 'env', origin: 'CAPSTAN_API_KEY' });
});

it('--profile and --url together are refused', () => {
  expect(() => resolveConnection({ url: 'http://a', profile: 'prod' }, {}, '/')).toThrow('two gateways');
});
