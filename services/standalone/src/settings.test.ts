import { describe, expect, test } from 'vitest';
import { checkSettings, showSetting } from './settings.js';

describe('a setting that is shown', () => {
  test.each([
    ['DATABASE_URL', 'postgres://capstan:p@ss/word@db:5432/capstan', 'postgres://capstan:(hidden)@db:5432/capstan'],
    [
      'DATABASE_URL',
      'postgres://db/capstan?user=a&password=b&sslmode=require',
      'postgres://db/capstan?user=a&password=(hidden)&sslmode=require',
    ],
    ['REDIS_URL', 'rediss://:a-password@redis:6379', 'rediss://:(hidden)@redis:6379'],
    ['CAPSTAN_SMTP_URL', 'smtp://me@example.com:a-password@host:587', 'smtp://me@example.com:(hidden)@host:587'],
    ['CAPSTAN_MCP_REGISTRY_URL', 'https://host/v0?api_key=a', 'https://host/v0?api_key=(hidden)'],
    ['CAPSTAN_DB_MAIN', 'postgres://reader:a-password@db/sales', 'postgres://reader:(hidden)@db/sales'],
    ['CAPSTAN_SECRET_STRIPE', 'sk_live', '(hidden)'],
    ['CAPSTAN_SECRET_WEBHOOK_URL', 'https://hooks.example.com/a-token', '(hidden)'],
    ['CAPSTAN_SECRET__ACME__LICENSE_FILE', 'sk_live', '(hidden)'],
    ['CAPSTAN_SECRETS_FILE', '/run/secrets.json', '/run/secrets.json'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'x-key=a', '(hidden)'],
    ['CAPSTAN_PUBLIC_URL', 'https://capstan.example.com:8443/a', 'https://capstan.example.com:8443/a'],
  ])('%s=%s has no secret', (name, value, shown) => {
    expect(showSetting(name, value)).toBe(shown);
  });
});

test('every mistake in the settings is a sentence that names the setting', () => {
  expect(
    checkSettings({
      CAPSTAN_PORT: 'many',
      CAPSTAN_SEAL_KEY: 'abc',
      CAPSTAN_SMTP_URL: 'https://mail',
      CAPSTAN_TOOL_UIDS: '5',
      CAPSTAN_LLM_BASE_URL: 'model',
    }).sort(),
  ).toEqual([
    'CAPSTAN_LLM_BASE_URL is invalid: it must be an http:// or https:// URL',
    'CAPSTAN_PORT is invalid: it must be a number',
    'CAPSTAN_SEAL_KEY is invalid: the seed of an Ed25519 key must be 32 bytes in base64',
    'CAPSTAN_SMTP_URL is invalid: it must be an smtp:// or smtps:// URL',
    'CAPSTAN_TOOL_UIDS is invalid: it must be first-last, such as 1900000000-1900065535',
  ]);
});
