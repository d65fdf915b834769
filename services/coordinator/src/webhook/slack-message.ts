import type { Json, JsonObject } from '@capstan/contracts';

type Told = { type: string; subject: string; data: JsonObject };

/** What Slack's incoming webhooks take, and all that speak like them. */
export function slackMessage(told: Told, public_url: string): { text: string } {
  const { subject, data } = told;
  if (told.type === 'quota.warning')
    return {
      text: `Quota ${literal(subject)}: ${textOf(data.used)} of ${textOf(data.max)} ${textOf(data.limit)} are used`,
    };
  if (told.type === 'webhook.disabled')
    return { text: `Webhook ${literal(subject)} was disabled: ${textOf(data.reason)}` };
  const parts = [textOf(data.tool_id), linkTo(told, public_url), ...whyOf(told)];
  return { text: `${headOf(told)}: ${parts.filter((part) => part !== '').join(' · ')}` };
}

const familyOf = ({ type }: Told): string => type.split('.', 1)[0] ?? '';

/** To the page of the console, where a person can decide. */
function linkTo(told: Told, public_url: string): string {
  const family = familyOf(told);
  const kind = family === 'hold' || family === 'run' ? `${family}s` : 'invocations';
  return `<${public_url}/${kind}/${encodeURIComponent(told.subject)}|${told.subject}>`;
}

function headOf({ type, data }: Told): string {
  switch (type) {
    case 'hold.created':
      return data.returned_because ? 'Approval needed once more' : 'Approval needed';
    case 'hold.expiring':
      return 'Approval expires soon';
    case 'hold.decided': {
      // Nobody lets a hold expire.
      const by = data.status === 'expired' ? '' : textOf(data.decided_by);
      return `Hold ${textOf(data.status)}${by === '' ? '' : ` by ${by}`}`;
    }
    default:
      return type.replace('.', ' ');
  }
}

/** What helps to decide, or says what happened. */
function whyOf({ type, data }: Told): string[] {
  const until = `until ${timeOf(data.expires_at)}`;
  switch (type) {
    case 'hold.created':
      return [
        riskOf(data),
        textOf(data.returned_because),
        textOf(data.reason),
        `asked by ${textOf(data.actor)}`,
        until,
      ];
    case 'hold.expiring':
      return [riskOf(data), textOf(data.reason), until];
    // Why it was held says nothing of why it was decided so.
    case 'hold.decided':
      return [textOf(data.comment)];
  }
  return [textOf(data.reason) || textOf(data.error) || textOf(member(data.result, 'error')) || denialOf(data)];
}

const member = (value: Json | undefined, name: string): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value[name] : undefined;

const denialOf = ({ decision }: JsonObject): string => {
  const rule = textOf(member(decision, 'rule_matched')) || textOf(member(decision, 'code'));
  return rule === '' ? '' : `by ${rule}`;
};

const riskOf = ({ risk }: JsonObject): string => (textOf(risk) === '' ? '' : `risk ${textOf(risk)}`);

const timeOf = (value: unknown): string => textOf(value).replace(/^(.{10})T(.{5}).*$/, '$1 $2 UTC');

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? literal(String(value).slice(0, 500)) : '';

/** The characters that mean something in Slack's text. */
const literal = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
