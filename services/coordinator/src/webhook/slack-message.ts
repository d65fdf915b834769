import type { JsonObject } from '@capstan/contracts';

type Told = { type: string; subject: string; data: JsonObject };

/** What Slack's incoming webhooks take, and all that speak like them. */
export function slackMessage({ type, subject, data }: Told, public_url: string): { text: string } {
  const [family, what = ''] = type.split('.');
  const link = `<${public_url}/${family === 'hold' ? 'holds' : family === 'run' ? 'runs' : 'invocations'}/${encodeURIComponent(subject)}|${subject}>`;
  const about = textOf(data.tool_id);
  const why = textOf(data.reason) || textOf(data.error);
  if (type === 'quota.warning')
    return {
      text: `Quota ${literal(subject)}: ${textOf(data.used)} of ${textOf(data.max)} ${textOf(data.limit)} are used`,
    };
  if (type === 'webhook.disabled') return { text: `Webhook ${literal(subject)} was disabled: ${why}` };
  const head = type === 'hold.created' ? 'Approval needed' : `${family} ${what}`;
  return { text: `${head}: ${[about, link, why].filter((part) => part !== '').join(' · ')}` };
}

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? literal(String(value).slice(0, 500)) : '';

/** The characters that mean something in Slack's text. */
const literal = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
