import { describe, expect, it } from 'vitest';
import { run } from '../testing/run-in-test.js';
import { withAnswers } from '../testing/with-answers.js';

const QUOTA = {
  scope: 'tool:ext:*',
  limits: { max_concurrent: 5, calls_per_day: 100 },
  on_exceed: 'deny',
  updated_by: 'admin',
  created_at: '2026-01-01T12:00:00.000Z',
  updated_at: '2026-01-01T12:00:00.000Z',
};
const WEBHOOK = {
  webhook_id: 'whk_1',
  kind: 'standard',
  url: 'https://a.example/',
  events: ['hold.*'],
  enabled: true,
  disabled_reason: null,
  secret: 'whsec_c2VjcmV0',
};

let answer: unknown = null;
const { seen, env } = withAnswers(() => answer);
const capstan = (...args: string[]) => run(args, { env });

describe('quota', () => {
  it('sets the limits in the options', async () => {
    answer = QUOTA;
    const done = await capstan(
      'quota',
      'set',
      'tool:ext:*',
      '--concurrent',
      '5',
      '--per-day',
      '100',
      '--on-exceed',
      'deny',
    );
    expect(done).toMatchObject({ code: 0 });
    expect(seen).toEqual([
      { request: 'PUT /v1/quotas/tool%3Aext%3A*', body: { max_concurrent: 5, calls_per_day: 100, on_exceed: 'deny' } },
    ]);
    expect(done.stdout).toContain('tool:ext:*: 5 at once, 100/day, then deny');
  });

  it('requires a limit', async () => {
    expect(await capstan('quota', 'set', 'tool:ext:*')).toMatchObject({ code: 2 });
    expect(seen).toEqual([]);
  });

  it('shows the usage of each limit', async () => {
    const { scope, limits, on_exceed } = QUOTA;
    const used = {
      waiting: 7,
      concurrent: 5,
      calls_this_minute: 9,
      calls_today: 42,
      runtime_ms_today: 10,
      cost_units_today: 0,
    };
    answer = { items: [{ scope, limits, on_exceed, ...used }], next_cursor: null };
    const { stdout: out } = await capstan('quota', 'usage');
    expect(out).toContain('5/5');
    expect(out).toContain('42/100');
  });
});

describe('webhook', () => {
  it('adds an endpoint and prints only its secret on stdout', async () => {
    answer = WEBHOOK;
    const done = await capstan('webhook', 'add', 'https://a.example/', '--events', 'hold.*,run.failed');
    expect(seen).toEqual([
      {
        request: 'POST /v1/webhooks',
        body: { url: 'https://a.example/', kind: 'standard', events: ['hold.*', 'run.failed'] },
      },
    ]);
    expect(done.stdout.trim()).toBe('whsec_c2VjcmV0');
  });

  it('prints no secret for an endpoint without signatures, or for a given secret', async () => {
    answer = { ...WEBHOOK, kind: 'slack' };
    const done = await capstan('webhook', 'add', 'https://hooks.example/', '--kind', 'slack', '--secret', 'mine');
    expect([done.stdout, done.stderr]).toEqual(['', expect.stringContaining('whk_1 receives')]);
  });

  it('sends a delivery again', async () => {
    answer = { delivery_id: 'dlv_1' };
    await capstan('webhook', 'redeliver', 'whk_1', 'dlv_1');
    expect(seen.map(({ request }) => request)).toEqual(['POST /v1/webhooks/whk_1/deliveries/dlv_1/redeliver']);
  });

  it('shows why an endpoint is disabled', async () => {
    answer = { items: [{ ...WEBHOOK, enabled: false, disabled_reason: 'gone' }], next_cursor: null };
    expect((await capstan('webhook')).stdout).toContain('disabled: gone');
  });
});

describe('retention', () => {
  const RETENTION = {
    tenant: 'acme',
    results_days: 7,
    records_days: null,
    by_status: { failed: { results_days: 30 } },
  };

  it('is set for all calls, and by status', async () => {
    answer = RETENTION;
    const args = ['--results', '7d', '--records', 'ever', '--for', 'failed=30d', '--for', 'denied=/12h'];
    const { code, stdout } = await capstan('retention', 'set', 'acme', ...args);
    expect(code).toBe(0);
    const by_status = { failed: { results_days: 30 }, denied: { records_days: 0.5 } };
    expect(seen).toEqual([
      { request: 'PUT /v1/retention/acme', body: { results_days: 7, records_days: null, by_status } },
    ]);
    expect(stdout).toContain('acme: results 7d, records ever; failed 30d/-');
  });

  it('is refused without a unit of time, and for an unknown status', async () => {
    expect(await capstan('retention', 'set', 'acme')).toMatchObject({ code: 2 });
    expect(await capstan('retention', 'set', 'acme', '--for', 'running=1d')).toMatchObject({ code: 2 });
    expect(seen).toEqual([]);
  });

  it('is listed', async () => {
    answer = { items: [{ ...RETENTION, updated_by: 'admin', updated_at: QUOTA.updated_at }], next_cursor: null };
    expect((await capstan('retention')).stdout).toContain('acme    7d       ever     failed 30d/-  admin');
  });
});
