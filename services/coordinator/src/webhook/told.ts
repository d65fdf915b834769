import { isObject, type Json, type JsonObject } from '@capstan/contracts';
import { visibleLine } from '@capstan/contracts/visible-text';

export type Told = { type: string; subject: string; data: JsonObject };

/** The text of a notification, for any medium. It contains no markup. */
export type Saying = {
  head: string;
  /** The tool concerned, or an empty string. */
  tool: string;
  /** The path of the console page that shows the subject; null if there is none. */
  path: string | null;
  /** Details that explain what happened or help to decide. */
  why: string[];
};

export function sayingOf(told: Told): Saying {
  const { type, subject, data } = told;
  if (type === 'quota.warning')
    return {
      head: `Quota ${subject}: ${textOf(data.used)} of ${textOf(data.max)} ${textOf(data.limit)} are used`,
      ...{ tool: '', path: null, why: [] },
    };
  if (type === 'webhook.disabled')
    return { head: `Webhook ${subject} was disabled: ${textOf(data.reason)}`, ...{ tool: '', path: null, why: [] } };
  return {
    head: headOf(told),
    tool: textOf(data.tool_id),
    path: pathOf(told),
    why: whyOf(told).filter((part) => part !== ''),
  };
}

const PAGES: Readonly<Record<string, string>> = { hold: 'approvals', run: 'runs' };

const pathOf = ({ type, subject }: Told): string =>
  `/${PAGES[type.split('.', 1)[0] ?? ''] ?? 'invocations'}/${encodeURIComponent(subject)}`;

function headOf({ type, data }: Told): string {
  switch (type) {
    case 'hold.created':
      return data.returned_because ? 'Approval needed once more' : 'Approval needed';
    case 'hold.expiring':
      return 'Approval expires soon';
    case 'hold.decided': {
      // A hold expires by itself, so nobody is named.
      const by = data.status === 'expired' ? '' : textOf(data.decided_by);
      return `Hold ${textOf(data.status)}${by === '' ? '' : ` by ${by}`}`;
    }
    default:
      return type.replace('.', ' ');
  }
}

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
    // The reason for holding the call does not explain the decision.
    case 'hold.decided':
      return [textOf(data.comment)];
  }
  return [textOf(data.reason) || textOf(data.error) || textOf(member(data.result, 'error')) || denialOf(data)];
}

const member = (value: Json | undefined, name: string): Json | undefined => (isObject(value) ? value[name] : undefined);

const denialOf = ({ decision }: JsonObject): string => {
  const rule = textOf(member(decision, 'rule_matched')) || textOf(member(decision, 'code'));
  return rule === '' ? '' : `by ${rule}`;
};

const riskOf = ({ risk }: JsonObject): string => (textOf(risk) === '' ? '' : `risk ${textOf(risk)}`);

const timeOf = (value: unknown): string => textOf(value).replace(/^(.{10})T(.{5}).*$/, '$1 $2 UTC');

/** Formats a value on one line, with invisible characters made visible. */
const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? visibleLine(String(value).slice(0, 500)) : '';
