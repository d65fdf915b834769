import { expect, it } from 'vitest';
import { run } from '../testing/run-in-test.js';
import { withAnswers } from '../testing/with-answers.js';

const WEBHOOK = {
  webhook_id: 'whk_abcdefghijklmnopqrst1',
  kind: 'standard',
  url: 'https://example.com/',
  events: ['*'],
  enabled: false,
};
let disabled_reason = 'disabled by ann';
const DELIVERY = {
  delivery_id: 'dlv_1',
  type: 'run.failed',
  subject: 'run_1',
  state: 'pending',
  attempts: 2,
  next_at: '2026-01-01T12:00:40.000Z',
  response_status: 503,
  error: 'HTTP 503',
  created_at: '2026-01-01T11:59:00.000Z',
};
const { seen, env } = withAnswers((request) =>
  request.includes('/deliveries')
    ? { items: [DELIVERY, { ...DELIVERY, attempts: 0, error: null, response_status: null }], next_cursor: null }
    : request.startsWith('GET')
      ? { items: [{ ...WEBHOOK, disabled_reason }], next_cursor: null }
      : WEBHOOK,
);

it.each([
  ['enable', true, 'enabled'],
  ['disable', false, 'disabled'],
])('webhook %s sends its options', async (action, enabled, word) => {
  expect(await run(['webhook', action, 'whk_abcdefghijklmnopqrst1'], { env })).toEqual({
    code: 0,
    stdout: `✓ whk_abcdefghijklmnopqrst1 ${word}\n`,
    stderr: '',
  });
  expect(seen).toEqual([{ request: 'PATCH /v1/webhooks/whk_abcdefghijklmnopqrst1', body: { enabled } }]);
});

it('webhook list shows why an endpoint is disabled', async () => {
  expect((await run(['webhook', 'list'], { env })).stdout).toMatch(/ {2}disabled by ann$/m);
  disabled_reason = 'it answered that it is gone';
  expect((await run(['webhook', 'list'], { env })).stdout).toMatch(/ {2}disabled: it answered that it is gone$/m);
});

it('webhook deliveries shows when a delivery is retried', async () => {
  const [, tried, fresh] = (await run(['webhook', 'deliveries', 'whk_abcdefghijklmnopqrst1'], { env })).stdout.split(
    '\n',
  );
  expect(tried).toMatch(/ {2}retry in \d+s +2 +HTTP 503 /);
  expect(fresh).toMatch(/ {2}pending +0 /);
});
