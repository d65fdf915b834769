import { describe, expect, test } from 'vitest';
import { backoffAfter, DAY_OF_RETRIES } from './backoff.js';
import { slackMessage } from './slack-message.js';

const URL = 'https://capstan.example';

describe('a Slack message', () => {
  test('links to the hold that asks for a decision', () => {
    const data = {
      tool_id: 'ext:bank:refund',
      actor: 'shop',
      risk: 'HIGH',
      reason: 'money leaves <the house>',
      expires_at: '2026-01-02T03:04:05.678Z',
    };
    expect(slackMessage({ type: 'hold.created', subject: 'hld_1', data }, URL).text).toBe(
      'Approval needed: ext:bank:refund · <https://capstan.example/approvals/hld_1|hld_1> · risk HIGH · money leaves &lt;the house&gt; · asked by shop · until 2026-01-02 03:04 UTC',
    );
  });

  test.each([
    ['run.failed', 'run_1', 'runs'],
    ['invocation.failed', 'inv_1', 'invocations'],
  ])('about %s links to its page in the console', (type, subject, kind) => {
    expect(slackMessage({ type, subject, data: {} }, URL).text).toContain(
      `<https://capstan.example/${kind}/${subject}|${subject}>`,
    );
  });

  test('about a decided hold names the decision and who made it', () => {
    const data = { tool_id: 'ext:bank:refund', status: 'released', decided_by: 'bob', reason: 'money leaves' };
    expect(slackMessage({ type: 'hold.decided', subject: 'hld_1', data }, URL).text).toBe(
      'Hold released by bob: ext:bank:refund · <https://capstan.example/approvals/hld_1|hld_1>',
    );
  });

  test('about a decided hold includes the comment of the decision', () => {
    const data = { tool_id: 'ext:bank:refund', status: 'rejected', decided_by: 'bob', comment: 'paid <twice>' };
    expect(slackMessage({ type: 'hold.decided', subject: 'hld_1', data }, URL).text).toBe(
      'Hold rejected by bob: ext:bank:refund · <https://capstan.example/approvals/hld_1|hld_1> · paid &lt;twice&gt;',
    );
  });

  test.each([
    ['invocation.failed', { result: { success: false, error: 'no such account' } }, 'no such account'],
    [
      'invocation.denied',
      { result: null, decision: { code: 'FORBIDDEN', rule_matched: 'never-in-prod' } },
      'by never-in-prod',
    ],
  ])('about %s includes the reason', (type, data, why) => {
    expect(slackMessage({ type, subject: 'inv_1', data }, URL).text).toMatch(new RegExp(` · ${why}$`));
  });

  test('escapes links and mentions in text that a tool wrote', () => {
    const told = { type: 'run.failed', subject: 'run_1', data: { reason: '<!channel> & <https://evil|here>' } };
    const { text } = slackMessage(told, URL);
    expect(text).toContain('&lt;!channel&gt; &amp; &lt;https://evil|here&gt;');
    expect(text).not.toContain('<!channel>');
  });

  test('about a quota warning shows the used and the allowed amount', () => {
    const data = { limit: 'calls_per_day', used: 80, max: 100 };
    expect(slackMessage({ type: 'quota.warning', subject: 'tenant:acme', data }, URL).text).toBe(
      'Quota tenant:acme: 80 of 100 calls_per_day are used',
    );
  });
});

test('retries are close together at first, later hours apart, and jittered', () => {
  const most = (attempts: number) => backoffAfter(attempts, DAY_OF_RETRIES, () => 1);
  expect([most(1), most(2), most(3), most(50)]).toEqual([5_000, 10_000, 20_000, 7_200_000]);
  expect(backoffAfter(1, DAY_OF_RETRIES, () => 0)).toBe(2_500);
});
